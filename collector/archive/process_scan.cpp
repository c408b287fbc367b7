// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The first pass over the records of a process; see process.hpp.
#include "collector/archive/process.hpp"
#include "formats/otf2/function_map.hpp"

#include <algorithm>
#include <cstring>

namespace critpath::archive
{

namespace
{

using functions::FunctionId;
using functions::SemanticClass;
using spool::RecordKind;

// The members of the communicator whose record was just taken; the cursor is moved behind them.
otf2::RankList take_members(const spool::CommunicatorRecord& record, RecordCursor& cursor)
{
    if (record.is_range != 0) {
        return record.size <= 0 ? otf2::RankList{}
                                : otf2::RankList{{record.first, record.size == 1 ? 1 : record.stride, record.size}};
    }
    std::vector<std::int32_t> ranks;
    take_members(cursor, ranks);
    return otf2::compress(ranks);
}

template <class T, class Id>
T& at(std::vector<T>& vector, Id id, const T& otherwise)
{
    const auto index = static_cast<std::size_t>(id);
    if (index >= vector.size()) {
        vector.resize(index + 1, otherwise);
    }
    return vector[index];
}

}  // namespace

Hash128 group_key(std::span<const std::int32_t> world_ranks)
{
    Hasher hasher;
    for (const std::int32_t rank : world_ranks) {
        hasher.add(static_cast<std::uint32_t>(rank));
    }
    return hasher.result();
}

void Epochs::begin(std::int32_t window, Side side, std::uint64_t leave, const Hash128& group)
{
    changes_[{window, side}].push_back({leave, group});
}

void Epochs::end(std::int32_t window, Side side, std::uint64_t leave)
{
    changes_[{window, side}].push_back({leave, std::nullopt});
}

void Epochs::sort()
{
    for (auto& [window, changes] : changes_) {
        std::ranges::stable_sort(changes, {}, &Change::time);
    }
    std::ranges::sort(gaps_);
}

std::optional<Hash128> Epochs::open_at(std::int32_t window, Side side, std::uint64_t time) const
{
    const auto found = changes_.find({window, side});
    if (found == changes_.end()) {
        return std::nullopt;
    }
    const auto next = std::ranges::upper_bound(found->second, time, {}, &Change::time);
    if (next == found->second.begin()) {
        return std::nullopt;
    }
    const Change& last = *std::prev(next);
    const auto gap = std::ranges::lower_bound(gaps_, last.time);
    return gap != gaps_.end() && *gap < time ? std::nullopt : last.group;
}

void ProcessData::scan_calls(const ThreadSpool& thread, ThreadData& data)
{
    add_counters(thread.header(), data);
    RecordedCall call;
    RecordCursor cursor = thread.records();
    std::uint64_t last_leave = 0;
    for (RecordKind kind = cursor.kind(); kind != RecordKind::Empty; kind = cursor.kind()) {
        if (kind == RecordKind::Call) {
            if (call.take(cursor)) {
                define_paths(data.call_paths, call.record.enter);
                scan_call(thread.thread, call, data.call_paths);
                last_leave = std::max(last_leave, call.record.leave);
            }
        } else if (kind == RecordKind::Communicator) {
            const auto& record = cursor.take<spool::CommunicatorRecord>();
            add_communicator(record, take_members(record, cursor));
        } else if (kind == RecordKind::Grid) {
            add_grid(cursor.take<spool::GridRecord>());
        } else if (kind == RecordKind::Graph) {
            add_graph(cursor.take<spool::GraphRecord>());
        } else if (kind == RecordKind::CallPath) {
            scan_call_path(cursor);
        } else if (kind == RecordKind::Object) {
            add_object(cursor.take<spool::ObjectRecord>());
        } else if (kind == RecordKind::Off) {
            const auto& off = cursor.take<spool::Record>();
            data.switched_off.push_back({off.enter, off.leave});
            epochs_.gap(off.enter);
        } else if (kind == RecordKind::Skipped) {
            data.skipped.push_back(cursor.take<spool::SkippedRecord>());
        } else if (kind == RecordKind::Clock) {
            const auto& clock = cursor.take<spool::ClockRecord>();
            clocks_.push_back(otf2::point_around(clock.time, clock.low, clock.high));
        } else {
            cursor.skip();
        }
    }
    new_paths_.clear();
    data.damaged_records = thread.damaged_records + cursor.missing();
    data.lost_records = (thread.calls ? thread.calls->header().lost : 0) + data.damaged_records;
    if (!thread.is_closed()) {
        data.open_call = cursor.open_call(last_leave);
    }
    if (data.open_call) {
        const FunctionId function{data.open_call->function};
        used_[data.open_call->function] = true;
        data.call_paths.learn(0, function, [&](const Leaf& caller) { return contexts_.add_call(caller, function); });
    }
}

// A thread may know what others have posted before it began: the first thread says that.
void ProcessData::place_skipped()
{
    auto& first = threads_.front().skipped;
    for (std::size_t i = 1; i < threads_.size(); ++i) {
        auto& skipped = threads_[i].skipped;
        const std::uint64_t begin = spool_.threads[i].header().thread_start;
        const auto own = std::stable_partition(skipped.begin(), skipped.end(),
                                               [&](const auto& record) { return record.since >= begin; });
        first.insert(first.end(), own, skipped.end());
        skipped.erase(own, skipped.end());
    }
    for (ThreadData& thread : threads_) {
        std::ranges::stable_sort(thread.skipped, {}, &spool::SkippedRecord::since);
    }
}

void ProcessData::scan_call(std::uint32_t thread, const RecordedCall& call, CallPaths& paths)
{
    const spool::Record& record = call.record;
    used_[record.function] = true;
    paths.learn(record.callpath, call.function(),
                [&](const Leaf& caller) { return contexts_.add_call(caller, call.function()); });
    if (call.semantics == SemanticClass::Finalize) {
        end_ = record.enter;
    }
    for (const Completion& completion : call.completions) {
        if (completion.operation != spool::Operation::Message && !call.posts()) {
            posts_.complete(thread, completion.request);
        }
    }
    if (call.failed()) {
        return;
    }
    if (record.request != 0 && posts_operation(call.semantics)) {
        posts_.post(thread, record);
    }
    for (const spool::Record& start : call.started) {
        posts_.post(thread, start);
    }
    if (functions::makes_communicator(call.semantics) && record.extra != 0) {
        created_.insert(static_cast<std::int32_t>(record.extra - 1));
    }
    switch (call.semantics) {
    case SemanticClass::WinStart:
    case SemanticClass::WinPost:
        add_group(call.members);
        epochs_.begin(record.tag,
                      call.semantics == SemanticClass::WinStart ? Epochs::Side::Access : Epochs::Side::Exposure,
                      record.leave, group_key(call.members));
        break;
    case SemanticClass::WinComplete:
        epochs_.end(record.tag, Epochs::Side::Access, record.leave);
        break;
    case SemanticClass::WinWait:
        epochs_.end(record.tag, Epochs::Side::Exposure, record.leave);
        break;
    case SemanticClass::WinTest:
        if ((record.flags & spool::flag_success) != 0) {
            epochs_.end(record.tag, Epochs::Side::Exposure, record.leave);
        }
        break;
    default:
        break;
    }
}

// A path of more addresses than fit goes on in the next records.
void ProcessData::scan_call_path(RecordCursor& cursor)
{
    const std::uint32_t id = cursor.peek<spool::CallPathRecord>().id;
    std::vector<std::uint64_t> addresses;
    while (cursor.kind() == RecordKind::CallPath && cursor.peek<spool::CallPathRecord>().id == id) {
        const auto& record = cursor.take<spool::CallPathRecord>();
        const std::size_t count = std::min<std::size_t>(record.count, std::size(record.address));
        addresses.insert(addresses.end(), record.address, record.address + count);
    }
    if (!addresses.empty()) {
        new_paths_[id] = std::move(addresses);
    }
}

// A path is written before the first call that was made by it, and has no time of its own.
void ProcessData::define_paths(CallPaths& paths, std::uint64_t time)
{
    for (const auto& [id, addresses] : new_paths_) {
        paths.define(id, contexts_.add_path(addresses, time));
    }
    new_paths_.clear();
}

void ProcessData::add_object(const spool::ObjectRecord& record)
{
    if (record.id < 0 || record.id > largest_id) {
        return;
    }
    if (record.type == spool::ObjectRecord::File) {
        files_[record.id] = std::string(record.name, ::strnlen(record.name, sizeof record.name));
    } else if (record.type == spool::ObjectRecord::Window) {
        const bool is_known = record.function < static_cast<std::uint32_t>(FunctionId::count);
        windows_[record.id] = {{record.gid[0], record.gid[1]},
                               record.comm,
                               is_known && otf2::allocates(FunctionId{static_cast<std::uint16_t>(record.function)})};
    }
}

void ProcessData::add_group(std::span<const std::int32_t> world_ranks)
{
    const auto [group, is_new] = groups_.try_emplace(group_key(world_ranks));
    if (is_new) {
        group->second = otf2::compress({world_ranks.begin(), world_ranks.end()});
        tables_.groups.push_back({group->first, group->second});
    }
}

void ProcessData::add_counters(const spool::SpoolHeader& header, ThreadData& thread)
{
    thread.counters = header.counter_count;
    if (thread.counters == 0) {
        return;
    }
    MetricEntry entry;
    Hasher hasher;
    for (std::size_t i = 0; i < thread.counters; ++i) {
        entry.names.emplace_back(header.counters[i]);
        hasher.add(entry.names.back());
    }
    thread.metric = entry.key = hasher.result();
    tables_.metrics.push_back(std::move(entry));
}

// A window whose communicator cannot be described has no definition, and so no events.
void ProcessData::add_windows()
{
    for (auto window = windows_.begin(); window != windows_.end();) {
        const auto comm = comm_keys_.find(window->second.comm);
        if (comm == comm_keys_.end()) {
            window = windows_.erase(window);
            continue;
        }
        if (is_alone(comm->second)) {
            // As the communicators of one process: the n-th of each is one definition.
            window->second.key = Hasher().add("alone").add(comm->second).add(alone_windows_[comm->second]++).result();
        }
        tables_.windows.push_back({window->second.key, comm->second});
        ++window;
    }
}

bool ProcessData::is_alone(const Hash128& comm) const
{
    const auto entry = std::find_if(tables_.communicators.begin(), tables_.communicators.end(),
                                    [&](const CommunicatorEntry& e) { return e.key == comm; });
    return entry != tables_.communicators.end() &&
           (entry->kind == CommunicatorEntry::Kind::Self || entry->kind == CommunicatorEntry::Kind::Alone);
}

void ProcessData::add_names()
{
    for (const auto& [id, name] : files_) {
        tables_.strings.push_back({text_key(name), name});
    }
    if (std::any_of(threads_.begin(), threads_.end(), [](auto& thread) { return !thread.switched_off.empty(); })) {
        tables_.strings.push_back({text_key(otf2::user_reason), otf2::user_reason});
    }
}

void ProcessData::resolve_objects(const Numbers& numbers, EventIds& ids) const
{
    for (const auto& [id, window] : windows_) {
        const auto rank = comm_ranks_.find(window.comm);
        at(ids.windows, id, {}) = {numbers.windows[position(tables_.windows, window.key)], window.is_allocated,
                                   rank == comm_ranks_.end() ? 0 : rank->second};
    }
    for (const auto& [id, name] : files_) {
        at(ids.files, id, otf2::none) = numbers.strings[position(tables_.strings, text_key(name))];
    }
    for (const auto& [key, members] : groups_) {
        ids.groups[key] = otf2::group_reference(numbers.groups[position(tables_.groups, key)]);
    }
    const std::uint32_t reason = position(tables_.strings, text_key(otf2::user_reason));
    if (reason < tables_.strings.size() && tables_.strings[reason].text == otf2::user_reason) {
        ids.user_reason = numbers.strings[reason];
    }
}

}  // namespace critpath::archive
