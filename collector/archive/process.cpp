// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/process.hpp"

#include "collector/archive/sample_reader.hpp"
#include "formats/otf2/definitions.hpp"

#include <algorithm>

namespace critpath::archive
{

namespace
{

using functions::FunctionId;
using spool::RecordKind;
using Kind = CommunicatorEntry::Kind;

constexpr std::int32_t world_id = 0;
constexpr std::int32_t self_id = 1;
// Ids are dense; anything beyond is damage.
constexpr std::int32_t largest_id = 1 << 24;

Hash128 function_key(FunctionId function)
{
    return Hasher().add("MPI").add(functions::info(function).name).result();
}

Hash128 text_key(const std::string& text)
{
    return Hasher().add(text).result();
}

Hash128 world_key()
{
    return text_key("MPI_COMM_WORLD");
}

Hash128 self_key()
{
    return text_key("MPI_COMM_SELF");
}

// The members of the communicator whose record was just taken; the cursor is moved behind them.
otf2::RankList take_members(const spool::CommunicatorRecord& record, RecordCursor& cursor)
{
    if (record.is_range != 0) {
        return record.size <= 0 ? otf2::RankList{}
                                : otf2::RankList{{record.first, record.size == 1 ? 1 : record.stride, record.size}};
    }
    std::vector<std::int32_t> ranks;
    while (cursor.kind() == RecordKind::Members) {
        const auto& members = cursor.take<spool::MembersRecord>();
        const std::size_t count = std::min<std::size_t>(members.count, std::size(members.world_rank));
        ranks.insert(ranks.end(), members.world_rank, members.world_rank + count);
    }
    return otf2::compress(ranks);
}

// "a\0b\0\0" as words.
std::vector<std::string> split_command(const char (&text)[1024])
{
    std::vector<std::string> words;
    for (const char* at = text; *at != '\0';) {
        words.emplace_back(at);
        at += words.back().size() + 1;
        if (at >= std::end(text)) {
            break;
        }
    }
    return words;
}

}  // namespace

ProcessData::ProcessData(const ProcessSpool& spool)
    : spool_(spool), contexts_(AddressMap(spool.maps)), used_(static_cast<std::size_t>(FunctionId::count))
{
    const spool::SpoolHeader& header = spool.threads.front().header();
    comm_keys_ = {{world_id, world_key()}, {self_id, self_key()}};
    tables_.communicators.push_back({world_key(), {}, Kind::World, {{{0, 1, header.size}}}});
    tables_.communicators.push_back({self_key(), {}, Kind::Self, {}});
    for (const ThreadSpool& thread : spool.threads) {
        scan_calls(thread);
    }
    for (const ThreadSpool& thread : spool.threads) {
        take_samples(thread, threads_.emplace_back());
    }
    add_functions();
    add_contexts();
    add_command();
    tables_.sort();
}

void ProcessData::scan_calls(const ThreadSpool& thread)
{
    if (!thread.calls) {
        return;
    }
    RecordCursor cursor(thread.calls->body());
    for (RecordKind kind = cursor.kind(); kind != RecordKind::Empty; kind = cursor.kind()) {
        if (kind == RecordKind::Call) {
            const auto& call = cursor.take<spool::Record>();
            if (call.function < used_.size()) {
                used_[call.function] = true;
                if (functions::info(FunctionId{call.function}).semantic_class == functions::SemanticClass::Finalize) {
                    end_ = call.enter;
                }
            }
        } else if (kind == RecordKind::Communicator) {
            const auto& record = cursor.take<spool::CommunicatorRecord>();
            add_communicator(record, take_members(record, cursor));
        } else {
            cursor.skip();
        }
    }
}

void ProcessData::add_communicator(const spool::CommunicatorRecord& record, otf2::RankList members)
{
    const Hash128 gid{record.gid[0], record.gid[1]};
    if (record.comm == world_id || record.comm == self_id) {
        gid_keys_[gid] = comm_keys_[record.comm];
        return;
    }
    if (record.comm < 0 || record.comm > largest_id) {
        return;
    }
    CommunicatorEntry entry;
    const Hash128 parent_gid{record.parent_gid[0], record.parent_gid[1]};
    const auto parent = gid_keys_.find(parent_gid);
    entry.parent = parent == gid_keys_.end() ? parent_gid : parent->second;
    const bool alone = record.size == 1 && record.is_inter == 0 && spool_.threads.front().header().size > 1;
    if (alone) {
        // Every process may have some of these. The n-th below the same parent is one definition for all of them, so
        // that their number does not grow with the ranks.
        entry.kind = Kind::Alone;
        entry.key = Hasher().add("alone").add(entry.parent).add(alone_[entry.parent]++).result();
    } else {
        entry.kind = record.is_inter != 0 ? Kind::Inter : Kind::Intra;
        entry.key = gid;
        entry.sides.push_back(std::move(members));
    }
    gid_keys_[gid] = entry.key;
    comm_keys_[record.comm] = entry.key;
    tables_.communicators.push_back(std::move(entry));
}

void ProcessData::take_samples(const ThreadSpool& spool, ThreadData& thread)
{
    const bool closed = spool.samples && spool.samples->header().closed != 0;
    thread.lost_records = spool.calls ? spool.calls->header().lost : 0;
    thread.lost_samples = closed ? spool.samples->header().lost : 0;
    const spool::SampleFormat& format = spool.sampling();
    if (!spool.samples || format.event[0] == '\0') {
        return;
    }
    const std::string event = format.event;
    thread.generator = Hasher().add(event).add(format.period).result();
    thread.period = format.period;
    tables_.generators.push_back({thread.generator, event, format.period});
    SampleReader reader(spool.samples->body());
    while (const auto sample = reader.next()) {
        if (sample->time <= end_) {
            const Leaf leaf = contexts_.add(sample->chain);
            thread.samples.push_back({sample->time, sample->period, leaf.offset, leaf.context});
        }
    }
    if (!closed) {
        thread.lost_samples = reader.lost();
    }
    // The kernel writes them in order but for a sample that interrupts the writing of another.
    std::stable_sort(thread.samples.begin(), thread.samples.end(), [](auto& a, auto& b) { return a.time < b.time; });
}

void ProcessData::add_functions()
{
    for (std::uint16_t id = 0; id < static_cast<std::uint16_t>(FunctionId::count); ++id) {
        if (used_[id]) {
            RegionEntry entry;
            entry.function = FunctionId{id};
            entry.key = function_key(entry.function);
            tables_.regions.push_back(std::move(entry));
        }
    }
    for (const Function& function : contexts_.functions()) {
        RegionEntry entry;
        entry.key = function.key;
        entry.canonical_name = function.canonical_name;
        entry.module = function.module;
        tables_.regions.push_back(std::move(entry));
        if (!function.module.empty()) {
            const Hash128 key = Hasher().add(function.module).add(function.build_id).result();
            tables_.modules.push_back({key, function.module, function.build_id});
        }
    }
}

void ProcessData::add_contexts()
{
    const std::vector<Context>& contexts = contexts_.contexts();
    for (const Context& context : contexts) {
        const Hash128 parent = context.parent == Context::no_parent ? Hash128{} : contexts[context.parent].key;
        tables_.contexts.push_back({context.key, contexts_.functions()[context.function].key, parent, context.depth});
    }
}

void ProcessData::add_command()
{
    command_ = split_command(spool_.threads.front().header().command);
    for (const std::string& word : command_) {
        tables_.strings.push_back({text_key(word), word});
    }
}

EventIds ProcessData::resolve(const Numbers& numbers) const
{
    EventIds ids;
    for (std::uint16_t id = 0; id < static_cast<std::uint16_t>(FunctionId::count); ++id) {
        ids.functions.push_back(used_[id] ? numbers.regions[position(tables_.regions, function_key(FunctionId{id}))]
                                          : otf2::none);
    }
    for (const auto& [id, key] : comm_keys_) {
        const std::uint32_t at = position(tables_.communicators, key);
        const OTF2_CommRef comm = numbers.communicators[at];
        ids.comms.resize(std::max<std::size_t>(ids.comms.size(), id + std::size_t{1}), otf2::none);
        ids.comms[id] = comm;
        ids.is_inter.resize(std::max<std::size_t>(ids.is_inter.size(), comm + std::size_t{1}));
        ids.is_inter[comm] = tables_.communicators[at].kind == Kind::Inter;
    }
    for (const Context& context : contexts_.contexts()) {
        ids.contexts.push_back(numbers.contexts[position(tables_.contexts, context.key)]);
    }
    for (const ThreadData& thread : threads_) {
        ids.generators.push_back(thread.generator.is_zero()
                                     ? otf2::none
                                     : numbers.generators[position(tables_.generators, thread.generator)]);
    }
    for (const std::string& word : command_) {
        ids.arguments.push_back(numbers.strings[position(tables_.strings, text_key(word))]);
    }
    if (!ids.arguments.empty()) {
        ids.program = ids.arguments.front();
        ids.arguments.erase(ids.arguments.begin());
    }
    return ids;
}

}  // namespace critpath::archive
