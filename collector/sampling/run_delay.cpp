// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/run_delay.hpp"

#include "collector/sampling/state.hpp"
#include "collector/sampling/text.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::sampling
{
namespace
{

/// Each time that a thread is woken it waits for some microseconds. For so little in all, nothing is written.
constexpr std::uint64_t least_written = 20'000;  // ns

/// "ns that it ran, ns that it waited, turns": the second one. A kernel that does not count has no turns either.
bool read_waited(RunDelay& delay, std::uint64_t& waited)
{
    char line[128];
    if (delay.count.fd < 0 || !is_file(delay.count.fd, delay.count.identity)) {
        return false;
    }
    const long length = syscall(SYS_pread64, delay.count.fd, line, sizeof line - 1, 0);
    if (length <= 0) {
        return false;
    }
    line[length] = '\0';
    char* rest = nullptr;
    std::strtoull(line, &rest, 10);
    const std::uint64_t read = std::strtoull(rest, &rest, 10);
    const std::uint64_t turns = std::strtoull(rest, &rest, 10);
    if (turns == 0) {
        return false;
    }
    waited = read;
    delay.is_told = true;
    return true;
}

/// Until `to`, which is in the count; in the file all times are the kernel's.
void write(const State& state, Slot& slot, const RunDelay::Reading& to)
{
    RunDelay& delay = slot.run_delay;
    const std::uint64_t since = delay.last.waited + delay.rested;
    if (delay.last.time == 0 || to.waited < since + least_written) {
        return;
    }
    const spool::RunDelayRecord record = {spool::RunDelayRecord::number,
                                          0,
                                          sizeof record,
                                          delay.last.time - state.time_offset,
                                          to.time - state.time_offset,
                                          to.waited - since};
    append_record(slot.file, state.choice, &record, sizeof record);
}

}  // namespace

void open_run_delay(Slot& slot)
{
    const Text path = Text() << "/proc/self/task/" << static_cast<std::uint64_t>(slot.tid) << "/schedstat";
    slot.run_delay.count = open_to_stay(path.path(), O_RDONLY);
    std::uint64_t ignored = 0;
    read_waited(slot.run_delay, ignored);  // the header may be written before the first reading
}

void close_run_delay(Slot& slot)
{
    close_if_ours(slot.run_delay.count);
}

void begin_run_delay(const State& state, Slot& slot)
{
    RunDelay::Reading reading{now(state), 0};
    if (read_waited(slot.run_delay, reading.waited)) {
        slot.run_delay.last = reading;
    }
}

bool measure_run_delay(const State& state, Slot& slot)
{
    RunDelay& delay = slot.run_delay;
    const std::uint64_t head = last_out(slot.event).head;
    if (head == delay.head) {
        return false;  // it goes on with what it did then
    }
    RunDelay::Reading reading{now(state), 0};
    // What it did while it was read may be in the count or not.
    if (!read_waited(delay, reading.waited) || last_out(slot.event).head != head) {
        return true;
    }
    write(state, slot, reading);
    delay.last = reading;
    delay.rested = 0;
    delay.head = head;
    return true;
}

void end_run_delay(const State& state, Slot& slot)
{
    RunDelay::Reading reading{now(state), 0};
    if (read_waited(slot.run_delay, reading.waited)) {
        slot.run_delay.at_end = reading;
    }
}

void keep_run_delay(const State& state, Slot& slot)
{
    if (slot.run_delay.at_end.time != 0) {
        write(state, slot, slot.run_delay.at_end);
    }
}

void add_rest(Slot& slot, std::uint64_t ns)
{
    slot.run_delay.rested += ns;
}

// A wait that nobody saw begin may go on. It is over when the thread has done something that is recorded.
void forget_run_delay(Slot& slot)
{
    slot.run_delay.last = {};
    slot.run_delay.rested = 0;
    slot.run_delay.head = last_out(slot.event).head;
}

}  // namespace critpath::sampling
