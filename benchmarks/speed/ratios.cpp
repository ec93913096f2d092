// A table of ratios from two outputs of Google Benchmark (--benchmark_format=json): how many times as fast the second
// is, in CPU time. Usage: ratios old.json new.json

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

/// The text after `"key": ` on a line, without quotes and comma; empty where the key is not there.
std::string field(const std::string& line, const std::string& key) {
    const std::size_t at = line.find("\"" + key + "\": ");
    if (at == std::string::npos) return {};
    std::string value = line.substr(at + key.size() + 4);
    while (!value.empty() && (value.back() == ',' || value.back() == '"' || value.back() == '\r'))
        value.pop_back();
    return value.empty() || value.front() != '"' ? value : value.substr(1);
}

struct Outcome {
    double time{};
    std::string unit{};
};

/// Name and CPU time of each benchmark, in the order of the file.
std::vector<std::pair<std::string, Outcome>> outcomes(const char* path) {
    std::ifstream file(path);
    if (!file) {
        std::fprintf(stderr, "ratios: cannot read %s\n", path);
        std::exit(1);
    }
    std::vector<std::pair<std::string, Outcome>> all;
    for (std::string line; std::getline(file, line);) {
        if (const std::string name = field(line, "name"); !name.empty()) all.push_back({name, {}});
        if (all.empty()) continue;
        if (const std::string time = field(line, "cpu_time"); !time.empty())
            all.back().second.time = std::strtod(time.c_str(), nullptr);
        if (const std::string unit = field(line, "time_unit"); !unit.empty()) all.back().second.unit = unit;
    }
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: ratios old.json new.json\n");
        return 2;
    }
    const auto before = outcomes(argv[1]);
    const std::map<std::string, Outcome> old(before.begin(), before.end());
    std::printf("| part | old | new | times as fast |\n|---|---|---|---|\n");
    for (const auto& [name, now] : outcomes(argv[2])) {
        const auto found = old.find(name);
        if (found == old.end() || !(now.time > 0.0) || found->second.unit != now.unit) continue;
        std::printf("| %s | %.4g %s | %.4g %s | %.2f |\n", name.c_str(), found->second.time, now.unit.c_str(),
                    now.time, now.unit.c_str(), found->second.time / now.time);
    }
    return 0;
}
