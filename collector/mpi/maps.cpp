// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/maps.hpp"

#include "collector/mpi/handle_table.hpp"
#include "collector/sampling/text.hpp"

#include <elf.h>

#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

constexpr std::size_t longest_line = 3 * 4096;  // more than a path may have
constexpr std::size_t longest_id = 64;

/// "7f0000-7f1000 r-xp 00002000 08:01 1234    /path".
struct Fields {
    std::uint64_t start = 0, end = 0, offset = 0;
    const char* permissions = nullptr;
    const char* file = nullptr;  // device, inode and path
    const char* path = nullptr;  // nullptr: of no file
};

std::uint64_t take_hex(const char*& text)
{
    std::uint64_t value = 0;
    for (;; ++text) {
        if (*text >= '0' && *text <= '9') {
            value = value * 16 + static_cast<std::uint64_t>(*text - '0');
        } else if (*text >= 'a' && *text <= 'f') {
            value = value * 16 + static_cast<std::uint64_t>(*text - 'a' + 10);
        } else {
            ++text;  // what separates
            return value;
        }
    }
}

Fields fields_of(const char* line, std::size_t size)
{
    Fields fields;
    const char* at = line;
    fields.start = take_hex(at);
    fields.end = take_hex(at);
    fields.permissions = at;
    const auto* space = static_cast<const char*>(std::memchr(at, ' ', size - static_cast<std::size_t>(at - line)));
    if (space == nullptr || space - at != 4) {
        return {};
    }
    at = space + 1;
    fields.offset = take_hex(at);
    fields.file = at;
    fields.path = static_cast<const char*>(std::memchr(at, '/', size - static_cast<std::size_t>(at - line)));
    return fields;
}

/// Of memory that another thread may be giving back: a plain read could end the application.
std::size_t read_memory(std::uint64_t address, void* bytes, std::size_t size)
{
    const iovec to = {bytes, size};
    const iovec from = {reinterpret_cast<void*>(address), size};  // NOLINT(performance-no-int-to-ptr)
    const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return got < 0 ? 0 : static_cast<std::size_t>(got);
}

/// Where a build-id stands in the notes of a binary; nullptr if it does not.
const char* find_build_id(const char* notes, std::size_t size, std::size_t alignment, std::size_t& id_size)
{
    const auto aligned = [alignment](std::size_t n) { return (n + alignment - 1) / alignment * alignment; };
    for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
        Elf64_Nhdr note;
        std::memcpy(&note, notes + at, sizeof note);
        const std::size_t name = at + sizeof note;
        const std::size_t id = name + aligned(note.n_namesz);
        if (id > size || note.n_descsz > size - id) {
            return nullptr;
        }
        const bool is_gnu =
            note.n_namesz == sizeof ELF_NOTE_GNU && std::memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
        if (is_gnu && note.n_type == NT_GNU_BUILD_ID && note.n_descsz > 0 && note.n_descsz <= longest_id) {
            id_size = note.n_descsz;
            return notes + id;
        }
        at = id + aligned(note.n_descsz);
    }
    return nullptr;
}

}  // namespace

struct MapsReader::Memory {
    char text[longest_line];
    // The line of the beginning of a binary.
    char head[longest_line];
    std::size_t head_size;  // 0: none
    Fields fields;          // of `head`
    bool is_known;          // what follows was looked for
    char identity[256];     // a line, or nothing
    std::size_t identity_size;
    char page[4096];
    char notes[1024];
};

MapsReader::MapsReader() : memory_(static_cast<Memory*>(map_memory(sizeof(Memory))))
{
    fd_ = memory_ == nullptr ? -1 : open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
}

MapsReader::~MapsReader()
{
    if (fd_ >= 0) {
        close(fd_);
    }
    if (memory_ != nullptr) {
        munmap(memory_, sizeof(Memory));
    }
}

bool MapsReader::next(Line& line)
{
    if (!is_said_) {
        is_said_ = true;
        line = {memory_->identity, memory_->identity_size, true};
        return true;
    }
    if (!read_line(line)) {
        return false;
    }
    look_at(line);
    return true;
}

bool MapsReader::read_line(Line& line)
{
    if (fd_ < 0) {
        return false;
    }
    char* const text = memory_->text;
    for (;;) {
        if (const void* end = std::memchr(text + done_, '\n', filled_ - done_)) {
            const char* const begin = text + done_;
            const std::size_t size = static_cast<std::size_t>(static_cast<const char*>(end) - begin) + 1;
            done_ += size;
            line = {begin, size, false};
            return true;
        }
        std::memmove(text, text + done_, filled_ - done_);
        filled_ -= done_;
        done_ = 0;
        const ssize_t got = read(fd_, text + filled_, sizeof memory_->text - filled_);
        if (got <= 0) {
            return false;
        }
        filled_ += static_cast<std::size_t>(got);
    }
}

void MapsReader::look_at(Line& line)
{
    const Fields fields = fields_of(line.text, line.size);
    if (fields.permissions == nullptr) {
        return;
    }
    line.is_code = fields.permissions[2] == 'x';
    const auto rest = [](const char* begin, const char* end) { return static_cast<std::size_t>(end - begin); };
    const std::size_t file_size = rest(fields.file, line.text + line.size);
    Memory& memory = *memory_;
    // What may be written to is no binary, and reading the memory of a device may do something.
    if (fields.path != nullptr && fields.offset == 0 && std::strncmp(fields.permissions, "r-", 2) == 0) {
        std::memcpy(memory.head, line.text, line.size);
        memory.head_size = line.size;
        memory.fields = fields;
        memory.fields.file = memory.head + rest(line.text, fields.file);
        memory.fields.path = memory.head + rest(line.text, fields.path);
        memory.is_known = false;
    }
    const bool has_head = memory.head_size > 0 && fields.path != nullptr &&
                          rest(memory.fields.file, memory.head + memory.head_size) == file_size &&
                          std::memcmp(memory.fields.file, fields.file, file_size) == 0;
    if (line.is_code && has_head) {
        identify();
        is_said_ = memory.identity_size == 0;
    }
}

void MapsReader::identify()
{
    if (memory_->is_known) {
        return;
    }
    memory_->is_known = true;
    memory_->identity_size = 0;
    bool is_binary = true;
    if (!identify_by_build_id(is_binary) && is_binary) {
        identify_by_file();
    }
}

/// What is loaded is what runs, whatever its path leads to by now.
bool MapsReader::identify_by_build_id(bool& is_binary)
{
    Memory& memory = *memory_;
    const std::uint64_t start = memory.fields.start;
    const std::uint64_t mapped = memory.fields.end - start;
    const std::size_t got = read_memory(start, memory.page, sizeof memory.page);
    Elf64_Ehdr header;
    if (got < sizeof header) {
        return false;
    }
    std::memcpy(&header, memory.page, sizeof header);
    is_binary = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    if (!is_binary || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
        return false;
    }
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        const std::uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
        Elf64_Phdr part;
        if (header.e_phoff > got || at + sizeof part > got) {
            return false;
        }
        std::memcpy(&part, memory.page + at, sizeof part);
        if (part.p_type != PT_NOTE || part.p_offset >= mapped || part.p_filesz > mapped - part.p_offset) {
            continue;
        }
        const std::size_t most = part.p_filesz < sizeof memory.notes ? part.p_filesz : sizeof memory.notes;
        const std::size_t size = read_memory(start + part.p_offset, memory.notes, most);
        std::size_t id_size = 0;
        const char* id = find_build_id(memory.notes, size, part.p_align == 8 ? 8 : 4, id_size);
        if (id == nullptr) {
            continue;
        }
        char* to = memory.identity + std::strlen(std::strcpy(memory.identity, "# build-id "));
        for (std::size_t byte = 0; byte < id_size; ++byte) {
            constexpr char digits[] = "0123456789abcdef";
            *to++ = digits[static_cast<unsigned char>(id[byte]) >> 4];
            *to++ = digits[static_cast<unsigned char>(id[byte]) & 0xf];
        }
        *to++ = '\n';
        memory.identity_size = static_cast<std::size_t>(to - memory.identity);
        return true;
    }
    return false;
}

void MapsReader::identify_by_file()
{
    Memory& memory = *memory_;
    memory.head[memory.head_size - 1] = '\0';
    struct stat status;
    const bool is_there = stat(memory.fields.path, &status) == 0;
    memory.head[memory.head_size - 1] = '\n';
    if (is_there) {
        constexpr std::uint64_t second = 1'000'000'000;
        const sampling::Text line = sampling::Text() << "# file " << static_cast<std::uint64_t>(status.st_size) << " "
                                                     << static_cast<std::uint64_t>(status.st_mtim.tv_sec) * second +
                                                            static_cast<std::uint64_t>(status.st_mtim.tv_nsec)
                                                     << "\n";
        std::memcpy(memory.identity, line.c_str(), line.size());
        memory.identity_size = line.size();
    }
}

}  // namespace critpath::preload
