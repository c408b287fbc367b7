// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the reading of raw perf_event records (perf_event_open(2)) of the sample types that formats/spool knows.
#pragma once

#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace critpath::archive
{

/// What the thread had when it was sampled, for those who find its callers. Stays until the next record is read.
struct RawStack {
    std::span<const std::uint64_t> registers;  // as in SampleFormat::registers, smallest number first; or empty
    std::span<const std::byte> bytes;          // from the stack pointer on
};

struct RawSample {
    std::uint64_t time = 0;  // ns
    std::uint64_t period = 0;
    std::uint64_t time_enabled = 0, time_running = 0;  // ns, since the events were opened
    std::span<const std::uint64_t> values;             // of the group, since then
    std::uint32_t processor = 0;
    std::uint64_t kernel = 0;  // where in the kernel the thread was; 0 if it was not
    /// User part of the call chain as the kernel walks it, sampled instruction first, then return addresses; may be
    /// empty.
    std::span<const std::uint64_t> chain;
    RawStack stack;
};

/// The thread leaves its processor, or comes back to one.
struct RawSwitch {
    std::uint64_t time = 0;  // ns
    std::uint32_t processor = 0;
    bool out = false;
    bool preempted = false;  // of an out: the thread was able to run
};

/// From here on there are no samples and switches, or there are again (spool::RespiteRecord).
struct RawRespite {
    using Change = spool::RespiteRecord::Change;
    std::uint64_t time = 0;  // ns; of whole respites how long they were
    Change change = Change::Ends;
};

/// Where the thread was when it was found blocked (spool::BlockedRecord).
struct RawBlocked {
    std::uint64_t since = 0;  // ns: as the RawSwitch before
    std::int64_t system_call = -1;
    bool is_timed = false;
    std::uint64_t stack_pointer = 0, instruction = 0;
    RawStack stack;  // of the registers only these two: spool::BlockedRecord::registers
};

/// How long the thread waited for processors (spool::RunDelayRecord).
struct RawRunDelay {
    std::uint64_t since = 0, until = 0;  // ns
    std::uint64_t waited = 0;
};

/// Takes what read_samples() finds.
class SampleHandler
{
public:
    virtual ~SampleHandler() = default;
    virtual void on(const RawSample& sample) = 0;
    virtual void on(const RawSwitch& change) = 0;
    virtual void on(const RawRespite& change) = 0;
    virtual void on(const RawBlocked& blocked) = 0;
    virtual void on(const RawRunDelay& delay) = 0;
    /// Here the kernel dropped records.
    virtual void on_gap() = 0;
};

/// Hands out the samples, switches and records of our own in `records`, in the order of the file, with `time_offset`
/// added to their times; the chains point into the records. Ends where a record makes no sense. Returns the number of
/// samples that the kernel says it dropped, or that are damaged.
std::uint64_t read_samples(std::span<const std::byte> records, const spool::SampleFormat& format,
                           std::int64_t time_offset, SampleHandler& handler);

struct SampleExtent {
    std::size_t bytes = 0;      // of the records that make sense,
    std::uint64_t records = 0;  // and how many these are
    bool is_damaged = false;    // what stands behind them is no record, not even one that was not finished
};

/// What read_samples() would read until the first record whose time, with `time_offset`, is later than `latest`.
SampleExtent extent_of_samples(std::span<const std::byte> records, std::int64_t time_offset, std::uint64_t latest);

}  // namespace critpath::archive
