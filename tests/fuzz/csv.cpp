// The tables of the command: any bytes are a table of finite numbers, or are refused by a UserError. The first byte chooses the
// options and the columns, the rest is the file.
#include "fuzz/bytes.hpp"

#include "examples/command/csv.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

/// One file of this process, written anew for each input and removed at the end.
class ScratchFile {
public:
    ScratchFile() : path_(folder() + "/kernelet_fuzz_" + std::to_string(getpid()) + ".csv") {}
    ~ScratchFile() { std::remove(path_.c_str()); }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    const std::string& write(const std::uint8_t* data, std::size_t size) const {
        std::FILE* file = std::fopen(path_.c_str(), "wb");
        if (file == nullptr) fuzz::fail("no scratch file");
        const bool written = size == 0 || std::fwrite(data, 1, size, file) == size;
        if (std::fclose(file) != 0 || !written) fuzz::fail("no scratch file");
        return path_;
    }

private:
    /// In memory where the system has such a folder: twenty times as fast.
    static std::string folder() {
        const std::filesystem::path memory = "/dev/shm";
        return std::filesystem::is_directory(memory) ? memory.string()
                                                     : std::filesystem::temp_directory_path().string();
    }

    std::string path_;
};

command::CsvOptions options_of(unsigned byte) {
    command::CsvOptions options;
    constexpr char separators[] = {',', ';', '\t', '|', ' '};
    if (const unsigned which = byte % 8; which < 5) options.separator = separators[which];
    if ((byte & 8U) != 0) options.header = (byte & 16U) != 0;
    return options;
}

/// Messages quote names of columns, so that bytes of the file may appear in them.
void require_usable(const command::UserError& error) {
    const std::string message = error.what();
    fuzz::require(!message.empty() && message.size() < 4000, "a message is empty or too long", message);
}

void read(const command::CsvFile& file, const command::CsvColumns& wanted) {
    const command::CsvData data = file.read(wanted);
    fuzz::require(data.inputs.rows() == static_cast<Eigen::Index>(wanted.inputs.size()),
                  "not as many inputs as columns were asked for");
    fuzz::require(data.inputs.allFinite(), "an input is not finite");
    fuzz::require(!wanted.target || static_cast<Eigen::Index>(data.target.size()) == data.inputs.cols(),
                  "not a target per row");
    fuzz::require(data.lines.size() == data.target.size(), "not a line per target");
    fuzz::require(std::is_sorted(data.lines.begin(), data.lines.end()), "line numbers do not rise");
    fuzz::require(data.inputs.cols() > 0, "a table without rows");
    for (std::size_t i = 0; i < data.target.size(); ++i) {
        const std::optional<double> number = command::parsed_number(data.target[i]);
        fuzz::require(!command::is_missing(data.target[i]) || !wanted.target, "a target that is missing");
        if (number) fuzz::require(!command::is_too_large(data.target[i]), "a number and too large");
        fuzz::require_readable(command::shown(data.target[i]), 100);
        (void)file.place(data.lines[i], *wanted.target);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const ScratchFile scratch;
    if (size == 0) return -1;
    try {
        const command::CsvFile file(scratch.write(data + 1, size - 1), options_of(data[0]));
        fuzz::require(file.columns() > 0 && !file.separator_name().empty(), "a table without columns");
        command::CsvColumns wanted;
        const bool backwards = (data[0] & 32U) != 0, has_target = (data[0] & 64U) != 0;
        for (std::size_t c = 0; c < file.columns(); ++c)
            if (!has_target || c > 0) wanted.inputs.push_back(c);
        if (backwards) std::reverse(wanted.inputs.begin(), wanted.inputs.end());
        if (has_target) wanted.target = 0;
        for (const std::string& name : {file.names().front(), std::string("1"), std::string("0")}) {
            try {
                fuzz::require(file.column(name) < file.columns(), "a column that is not there");
            } catch (const command::UserError& error) {
                require_usable(error);
            }
        }
        read(file, wanted);
    } catch (const command::UserError& error) {
        require_usable(error);
    }
    return 0;
}
