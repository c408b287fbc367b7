// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/disassembly.hpp"

#include "analysis/report/text.hpp"
#include "formats/binary/elf_file.hpp"
#include "formats/binary/symbol_ends.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace critpath::report
{

namespace
{

constexpr std::uint64_t longest_instruction = 15;  // bytes, of x86; elsewhere they are shorter

/// "  1139:\tmov    %rdi,%rax" as objdump prints it; nothing for all other lines.
std::optional<Instruction> parse(std::string_view line)
{
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    Instruction instruction;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), instruction.address, 16);
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (error != std::errc() || !line.starts_with(":\t"))
        return std::nullopt;
    line.remove_prefix(2);
    for (const char c : line.substr(0, line.find_last_not_of(" \t\n") + 1))
        instruction.text += c == '\t' ? ' ' : c;
    return instruction;
}

/// In [begin, end) of `text`, if that is a number in hexadecimal digits.
std::optional<std::uint64_t> hexadecimal(std::string_view text, std::size_t begin, std::size_t end)
{
    if (begin >= end)
        return std::nullopt;
    std::uint64_t number = 0;
    const char* const last = text.data() + end;
    const auto [read, error] = std::from_chars(text.data() + begin, last, number, 16);
    return error == std::errc() && read == last ? std::optional(number) : std::nullopt;
}

/// What objdump says of an address at the end of an instruction: "24b4b0 <solve+0x1f0>".
struct SymbolNote {
    std::size_t at = 0;  // of its space
    std::uint64_t address = 0;
    std::uint64_t offset = 0;  // from the symbol
};

std::optional<SymbolNote> symbol_note(std::string_view text)
{
    if (!text.ends_with('>'))
        return std::nullopt;
    // Names of C++ have such brackets, too, but no number before them.
    for (std::size_t at = text.find(" <"); at != text.npos; at = text.find(" <", at + 1)) {
        const std::size_t before = text.find_last_of(" \t", at - 1);
        const auto address = hexadecimal(text, before == text.npos ? 0 : before + 1, at);
        if (!address)
            continue;
        constexpr std::string_view plus = "+0x";
        const std::size_t offset = text.rfind(plus);
        return SymbolNote{at, *address,
                          offset == text.npos || offset < at
                              ? 0
                              : hexadecimal(text, offset + plus.size(), text.size() - 1).value_or(0)};
    }
    return std::nullopt;
}

/// objdump names an address by the symbol before it, however far that is: of a stripped binary, whatever was exported
/// or imported last. Leaves away the names of symbols that end before the address.
class SymbolNotes
{
public:
    SymbolNotes(const std::string& path, std::uint64_t begin, std::uint64_t end)
        : ends_(binary::symbol_ends(binary::ElfFile(path))), begin_(begin), end_(end)
    {
    }

    void correct(std::string& text) const
    {
        const std::optional<SymbolNote> note = symbol_note(text);
        if (!note || note->offset == 0)
            return;
        const std::uint64_t symbol = note->address - note->offset;
        const bool is_own = symbol >= begin_ && note->address < end_;  // of assembly, symbols may have no size
        const auto found = ends_.find(symbol);
        if (!is_own && (found == ends_.end() || found->second <= note->address))
            text.resize(note->at);
    }

private:
    std::unordered_map<std::uint64_t, std::uint64_t> ends_;
    std::uint64_t begin_, end_;  // of what is disassembled
};

struct Close {
    void operator()(FILE* file) const { ::pclose(file); }
};

}  // namespace

std::optional<std::vector<Instruction>> disassemble(const std::string& path, std::uint64_t begin, std::uint64_t end)
{
    // Told to end inside an instruction, objdump prints a part of it as if that were one.
    const std::string command = fmt::format("LC_ALL=C objdump --disassemble --demangle --no-show-raw-insn --wide "
                                            "--start-address={:#x} --stop-address={:#x} -- {} 2>/dev/null",
                                            begin, end + longest_instruction - 1, shell_quoted(path));
    const std::unique_ptr<FILE, Close> output(::popen(command.c_str(), "re"));
    if (output == nullptr)
        return std::nullopt;
    const SymbolNotes notes(path, begin, end);
    std::vector<Instruction> instructions;
    std::unique_ptr<char, decltype(&std::free)> line(nullptr, &std::free);
    char* text = nullptr;
    std::size_t capacity = 0;
    for (ssize_t size = 0; (size = ::getline(&text, &capacity, output.get())) >= 0;)
        if (auto instruction = parse({text, static_cast<std::size_t>(size)});
            instruction && instruction->address < end) {
            notes.correct(instruction->text);
            instructions.push_back(std::move(*instruction));
        }
    line.reset(text);
    if (instructions.empty())
        return std::nullopt;
    return instructions;
}

}  // namespace critpath::report
