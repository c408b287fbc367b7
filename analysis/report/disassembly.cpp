// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/disassembly.hpp"

#include "analysis/report/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string_view>

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
    std::vector<Instruction> instructions;
    std::unique_ptr<char, decltype(&std::free)> line(nullptr, &std::free);
    char* text = nullptr;
    std::size_t capacity = 0;
    for (ssize_t size = 0; (size = ::getline(&text, &capacity, output.get())) >= 0;)
        if (auto instruction = parse({text, static_cast<std::size_t>(size)}); instruction && instruction->address < end)
            instructions.push_back(std::move(*instruction));
    line.reset(text);
    if (instructions.empty())
        return std::nullopt;
    return instructions;
}

}  // namespace critpath::report
