#pragma once

#include <kernelet/detail/check.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <ios>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#if __has_include(<sys/stat.h>) && __has_include(<unistd.h>)
#define KERNELET_POSIX_FILES  // a tenth of the time that compiling <filesystem> takes
#include <sys/stat.h>
#include <unistd.h>
#else
#include <filesystem>
#endif

/// Texts to and from streams and files, whole or not at all.
namespace kernelet::detail {

/// Unformatted: width, fill and flags of the stream do not matter.
inline void write_text(std::ostream& stream, const std::string& text) {
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.flush();
    if (!stream) throw std::ios_base::failure("kernelet: the stream did not take the model");
}

/// "kernelet: cannot open PATH: reason", by the error number of the last call.
[[noreturn]] inline void fail_to(const char* what, const std::string& path, int reason) {
    throw std::system_error(reason != 0 ? reason : EIO, std::generic_category(),
                            text("kernelet: cannot ", what, " ", path));
}

/// Into a file that is there already and cannot be replaced by another: a device, a pipe.
inline void write_in_place(const std::string& path, const std::string& text) {
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    if (!file) fail_to("open", path, errno);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) fail_to("write", path, errno);
}

#ifdef KERNELET_POSIX_FILES

/// Whether a path is there and is neither a file nor a folder: a device, a pipe, a socket.
inline bool is_special_file(const std::string& path) {
    struct stat about {};
    return stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

/// Where a symbolic link points to, from the folder that it is in; empty: the path is no link.
inline std::string link_target(const std::string& path) {
    char target[4096];
    const auto length = readlink(path.c_str(), target, sizeof target);
    if (length <= 0 || length == sizeof target) return {};
    const std::string found(target, static_cast<std::size_t>(length));
    const std::size_t folder = path.rfind('/');
    return found.front() == '/' || folder == std::string::npos ? found : path.substr(0, folder + 1) + found;
}

#else

inline bool is_special_file(const std::string& path) {
    std::error_code ignored;  // of a path that is not there
    return std::filesystem::is_other(path, ignored);
}

inline std::string link_target(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::is_symlink(path, ignored)) return {};
    return (std::filesystem::path(path).parent_path() / std::filesystem::read_symlink(path, ignored))
        .string();
}

#endif

/// The path that a chain of symbolic links ends at, also where there is no file yet.
inline std::string behind_links(std::string path) {
    constexpr int most = 40;  // as Linux follows
    for (int link = 0; link < most; ++link) {
        std::string target = link_target(path);
        if (target.empty()) break;
        path = std::move(target);
    }
    return path;
}

/// Into a file of another name in the same folder, which is renamed once all is written. A link is followed; a device or
/// a pipe is written to as it is.
inline void write_file(const std::string& given, const std::string& text) {
    if (is_special_file(given)) return write_in_place(given, text);
    const std::string path = behind_links(given), partial = path + ".partial";
    errno = 0;
    std::ofstream file(partial, std::ios::binary);
    if (!file) fail_to("open", partial, errno);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) {
        const int reason = errno;
        std::remove(partial.c_str());
        fail_to("write", partial, reason);
    }
    if (std::rename(partial.c_str(), path.c_str()) != 0) {
        const int reason = errno;
        std::remove(partial.c_str());
        fail_to("replace", path, reason);
    }
}

inline std::string read_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) fail_to("open", path, errno);
    std::ostringstream text;
    errno = 0;
    try {
        text << file.rdbuf();
    } catch (const std::ios_base::failure&) {
    }
    if (errno != 0) fail_to("read", path, errno);  // a folder, say
    return std::move(text).str();
}

}  // namespace kernelet::detail
