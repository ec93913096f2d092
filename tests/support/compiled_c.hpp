#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

/// C sources, compiled and loaded while a program runs.
namespace support {

/// Whether there is a C compiler to call.
inline bool has_c_compiler() {
    static const bool found = std::system("cc --version > /dev/null 2>&1") == 0;
    return found;
}

/// A C file: its name without ".c", and what it holds.
struct CSource {
    std::string name{};
    std::string text{};
};

/// A shared library of some C files, each compiled by itself, without a warning. Throws the compiler's messages.
class CompiledC {
public:
    explicit CompiledC(const std::vector<CSource>& sources, const std::string& flags = "") {
        static int count = 0;
        folder_ = std::filesystem::temp_directory_path() /
                  ("kernelet_c_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
        std::filesystem::create_directories(folder_);
        std::string files;
        for (const CSource& source : sources) {
            const std::filesystem::path file = folder_ / (source.name + ".c");
            std::ofstream(file) << source.text;
            files += " '" + file.string() + "'";
        }
        const std::filesystem::path library = folder_ / "library.so", said = folder_ / "said.txt";
        const std::string command = "cc -std=c99 -Wall -Wextra -Werror -pedantic -O2 -shared -fPIC " + flags +
                                    files + " -o '" + library.string() + "' -lm 2> '" + said.string() + "'";
        if (std::system(command.c_str()) != 0) {
            std::ifstream report(said);
            std::string line, all;
            while (std::getline(report, line)) all += line + "\n";
            throw std::runtime_error(command + "\n" + all);
        }
        handle_.reset(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
        if (!handle_) throw std::runtime_error(::dlerror());
    }
    CompiledC(const CompiledC&) = delete;
    CompiledC& operator=(const CompiledC&) = delete;
    ~CompiledC() {
        handle_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    /// A function of the library, as function<double(const double*)>("name").
    template <class Signature>
    Signature* function(const std::string& name) const {
        void* found = ::dlsym(handle_.get(), name.c_str());
        if (found == nullptr) throw std::runtime_error("no function " + name);
        return reinterpret_cast<Signature*>(found);
    }
    bool has(const std::string& name) const { return ::dlsym(handle_.get(), name.c_str()) != nullptr; }

private:
    struct Close {
        void operator()(void* handle) const { ::dlclose(handle); }
    };
    std::filesystem::path folder_;
    std::unique_ptr<void, Close> handle_{};
};

}  // namespace support
