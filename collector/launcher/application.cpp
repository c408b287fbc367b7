// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/application.hpp"

#include "collector/launcher/elf_file.hpp"
#include "formats/support/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace critpath::launcher
{
namespace
{

constexpr int exit_usage = static_cast<int>(ExitCode::Usage);

template <class... Args>
[[noreturn]] void refuse(int exit_code, fmt::format_string<Args...> format, Args&&... args)
{
    throw Unusable{exit_code, fmt::format(format, std::forward<Args>(args)...)};
}

bool is_file(const std::string& path)
{
    struct stat status {
    };
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool can_execute(const std::string& path)
{
    return is_file(path) && access(path.c_str(), X_OK) == 0;
}

/// The rules of execvp: the first executable file in the directories of PATH; an empty directory is the current one.
std::string search_path(const std::string& name)
{
    std::string path = environment_value("PATH");
    if (path.empty()) {
        path = "/bin:/usr/bin";
    }
    std::string not_executable;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find(':', begin), path.size());
        const std::string directory = path.substr(begin, end - begin);
        std::string candidate = fmt::format("{}/{}", directory.empty() ? "." : directory, name);
        if (can_execute(candidate)) {
            return candidate;
        }
        if (not_executable.empty() && is_file(candidate)) {
            not_executable = candidate;
        }
        begin = end + 1;
    }
    if (!not_executable.empty()) {
        refuse(exit_not_executable, "{}: is not executable; make it so with: chmod +x {}", not_executable,
               not_executable);
    }
    if (is_file(name)) {
        refuse(exit_not_found, "{}: not found in PATH; to run the one in this directory, give ./{}", name, name);
    }
    refuse(exit_not_found, "{}: not found in PATH; give its path, or load its module first", name);
}

void require_executable(const std::string& path)
{
    struct stat status {
    };
    if (stat(path.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            refuse(exit_not_found, "{}: not found; check the path and the working directory", path);
        }
        refuse(exit_not_executable, "{}: {}; check the permissions of its directories", path, std::strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        refuse(exit_not_executable, "{}: is a directory; give the program in it", path);
    }
    if (access(path.c_str(), X_OK) != 0) {
        refuse(exit_not_executable, "{}: is not executable; make it so with: chmod +x {}", path, path);
    }
}

/// The kernel starts such programs in "secure execution", in which the loader ignores LD_PRELOAD.
void require_no_privileges(const std::string& path)
{
    struct stat status {
    };
    if (stat(path.c_str(), &status) != 0) {
        return;
    }
    const bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid();
    const bool other_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getegid();
    if (other_user || other_group) {
        refuse(exit_usage, "{}: is {}, and such programs cannot be recorded; record a copy without that bit", path,
               other_user ? "setuid" : "setgid");
    }
    if (geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
        refuse(exit_usage, "{}: has file capabilities, and such programs cannot be recorded; record a copy of it",
               path);
    }
}

void require_recordable(const std::string& path)
{
    const ElfFile file = inspect_elf(path);
    switch (file.kind) {
    case ElfKind::None:
    case ElfKind::Dynamic:
        break;
    case ElfKind::Foreign:
        refuse(exit_not_executable, "{}: is a program for another machine ({}); build it for this one", path,
               file.machine);
    case ElfKind::Static:
        refuse(exit_usage,
               "{}: is linked statically, so its MPI calls cannot be recorded; link it with the shared MPI "
               "library (without -static)",
               path);
    }
    require_no_privileges(path);
}

/// A launcher below cpcollect would be recorded itself, instead of the ranks that it starts.
void require_no_launcher(const std::string& path, const ProcessPlace& place)
{
    constexpr std::array<std::string_view, 7> launchers = {"mpirun", "mpiexec", "orterun", "prun",
                                                           "srun",   "aprun",   "jsrun"};
    const std::string name = base_name(path);
    const std::string kind = name.substr(0, name.find('.'));  // mpiexec.hydra, mpirun.openmpi
    if (!place.is_parallel && std::find(launchers.begin(), launchers.end(), kind) != launchers.end()) {
        refuse(exit_usage, "{}: starts the ranks and is none itself; put cpcollect behind it: {} ... cpcollect ./app",
               name, name);
    }
}

}  // namespace

std::string base_name(const std::string& path)
{
    const std::size_t end = path.find_last_not_of('/');
    const std::string trimmed = path.substr(0, end == std::string::npos ? path.size() : end + 1);
    return trimmed.substr(trimmed.find_last_of('/') + 1);
}

std::string find_application(const std::string& name, const ProcessPlace& place)
{
    if (name.empty()) {
        refuse(exit_not_found, "application: the name is empty; give a program");
    }
    std::string path = name.find('/') == std::string::npos ? search_path(name) : name;
    require_executable(path);
    require_no_launcher(path, place);
    require_recordable(path);
    return path;
}

}  // namespace critpath::launcher
