// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/sources/sources.hpp"

#include "analysis/naming/naming.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

struct Instruction {
    std::uint32_t module;  // Profile::modules
    std::uint64_t address;
    auto operator<=>(const Instruction&) const = default;
};

/// Of the rows in binaries of the program. Reports can ask others later, and to ask all libraries now takes longer than
/// much of a replay.
std::vector<Instruction> instructions(const model::Profile& profile)
{
    std::map<std::string_view, std::uint32_t> modules;
    for (std::uint32_t i = 0; i < profile.modules.size(); ++i)
        if (binary::is_of_program(profile.modules[i].path))
            modules.emplace(profile.modules[i].path, i);
    std::vector<Instruction> found;
    const auto add = [&](model::RowId row, std::uint64_t address) {
        if (address == 0)
            return;
        if (const auto module = modules.find(profile.rows[row.value].module); module != modules.end())
            found.push_back({module->second, address});
    };
    const auto add_call = [&](model::CallPathId call, std::uint64_t site) {
        if (const model::CallPathId caller = profile.call_paths[call.value].parent; caller.valid())
            add(profile.row_of(caller), site);
    };
    for (const model::AddressTime& time : profile.addresses)
        add(profile.row_of(time.call_path), time.address);
    for (const model::AddressTime& time : profile.total_addresses)
        add(profile.row_of(time.call_path), time.address);
    for (const model::StretchAddress& at : profile.stretch_addresses)
        add(at.row, at.address);
    for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i)
        add_call({i}, profile.call_paths[i].site);
    for (const model::Stretch& stretch : profile.stretches) {
        if (stretch.before.valid())
            add_call(stretch.before, static_cast<std::uint64_t>(stretch.before_site));
        add_call(stretch.after, static_cast<std::uint64_t>(stretch.after_site));
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

/// Numbers things as they come.
template <class Thing>
class Numbering
{
public:
    std::uint32_t operator()(const Thing& thing)
    {
        return numbers_.try_emplace(thing, static_cast<std::uint32_t>(numbers_.size())).first->second;
    }
    /// By number.
    [[nodiscard]] std::vector<Thing> things() const
    {
        std::vector<Thing> things(numbers_.size());
        for (const auto& [thing, number] : numbers_)
            things[number] = thing;
        return things;
    }

private:
    std::map<Thing, std::uint32_t> numbers_;
};

/// As model::SourceFrame, with texts of the process that found it.
struct FoundFrame {
    std::uint32_t module;
    std::uint64_t address;
    std::uint32_t function, declared_in, declared_at;
    std::uint32_t file, line;
};

struct FoundModule {
    std::uint32_t module;
    std::uint32_t lacks_split_units;
};

struct Found {
    std::vector<FoundModule> modules;
    std::vector<FoundFrame> frames;
    std::vector<std::string> texts;
};

Found look_up(const model::Profile& profile, binary::SourceLines& lines, std::span<const Instruction> instructions)
{
    Numbering<std::string> texts;
    Found found;
    const auto number = [](int line) { return static_cast<std::uint32_t>(std::max(line, 0)); };
    for (const auto& [at, address] : instructions) {
        const binary::Module module{profile.modules[at].path, profile.modules[at].build_id};
        if (lines.state(module) != binary::ModuleState::Found)
            continue;
        if (found.modules.empty() || found.modules.back().module != at)
            found.modules.push_back({at, lines.lacks_split_units(module)});
        const std::vector<binary::SourceFrame>& frames = lines.find(module, address);
        std::vector<binary::SourcePlace> declared = lines.declarations(module, address);
        declared.resize(frames.size());
        for (std::size_t i = 0; i < frames.size(); ++i)
            found.frames.push_back({at, address, texts(frames[i].function), texts(declared[i].file),
                                    number(declared[i].line), texts(frames[i].file), number(frames[i].line)});
    }
    found.texts = texts.things();
    return found;
}

/// Gives each of the first processes a part of them, in order.
std::vector<Instruction> part_of(const Replay& replay, const std::vector<Instruction>& all)
{
    constexpr std::size_t worth_it = 64;  // a process reads all of what the compiler made of each file
    auto parts = lists_for<Instruction>(replay.size);
    const std::size_t readers = std::clamp<std::size_t>(all.size() / worth_it, 1, parts.size());
    for (std::size_t i = 0; i < readers; ++i)
        parts[i].assign(all.begin() + static_cast<std::ptrdiff_t>(all.size() * i / readers),
                        all.begin() + static_cast<std::ptrdiff_t>(all.size() * (i + 1) / readers));
    return replayer::exchange(replay.comm, parts).items;
}

template <class T>
Received<T> gather(const Replay& replay, std::vector<T> here)
{
    auto to = lists_for<T>(replay.size);
    to[0] = std::move(here);
    return replayer::exchange(replay.comm, to);
}

/// Each ends with a zero.
std::vector<char> joined(const std::vector<std::string>& texts)
{
    std::vector<char> bytes;
    for (const std::string& text : texts)
        bytes.insert(bytes.end(), text.c_str(), text.c_str() + text.size() + 1);
    return bytes;
}

std::vector<std::string> split(std::span<const char> bytes)
{
    std::vector<std::string> texts;
    for (std::size_t begin = 0; begin < bytes.size(); begin += texts.back().size() + 1)
        texts.emplace_back(&bytes[begin]);
    return texts;
}

}  // namespace

void add_sources(const Replay& replay, model::Profile& profile)
{
    binary::SourceLines lines;
    if (replay.rank == 0)
        naming::name_functions(profile, lines, binary::is_of_program);
    Found here =
        look_up(profile, lines, part_of(replay, replay.rank == 0 ? instructions(profile) : std::vector<Instruction>()));
    const Received<FoundModule> modules = gather(replay, std::move(here.modules));
    const Received<FoundFrame> frames = gather(replay, std::move(here.frames));
    const Received<char> texts = gather(replay, joined(here.texts));
    for (const auto& [at, lacks_split_units] : modules.items) {
        profile.modules[at].has_lines = true;
        profile.modules[at].lacks_split_units = lacks_split_units != 0;
    }
    Numbering<std::string> files;
    Numbering<std::tuple<std::string, std::uint32_t, std::uint32_t>> functions;  // name, and where it is declared
    for (int process = 0; process < replay.size; ++process) {
        const std::vector<std::string> text = split(texts.from(process));
        for (const FoundFrame& frame : frames.from(process)) {
            const std::uint32_t declared_in = files(text[frame.declared_in]);
            const std::uint32_t function = functions({text[frame.function], declared_in, frame.declared_at});
            profile.source_frames.push_back(
                {frame.module, frame.address, function, files(text[frame.file]), frame.line});
        }
    }
    profile.source_files = files.things();
    for (auto& [name, file, line] : functions.things())
        profile.source_functions.push_back({name, file, line});
}

}  // namespace critpath::replayer
