// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/off_processor.hpp"

#include <algorithm>
#include <utility>

namespace critpath::archive
{

void OffProcessor::on(const RawSwitch& change)
{
    if (respite_end_ && !change.out && change.time > *respite_end_ + too_long_for_a_turn) {
        intervals_.push_back({*respite_end_, change.time, false, change.processor, false});
    }
    respite_end_.reset();
    const bool is_in_of_out = !change.out && out_ && !out_->gap;
    if (is_in_of_out) {
        close(change.time, change.processor);
    } else if (out_) {  // its in was not recorded
        const bool seen = out_->first_seen.has_value();
        close(seen ? out_->first_seen->time : change.time, seen ? out_->first_seen->processor : change.processor);
    }
    if (change.out) {
        out_ = Out{change, false, std::nullopt};
    }
}

// A sample without a gap does not yet mean that the thread runs: an interrupt that cannot be masked may still hit it
// while it is being switched out.
void OffProcessor::on(const RawSample& sample)
{
    respite_end_.reset();
    if (!out_) {
        return;
    }
    if (!out_->first_seen) {
        out_->first_seen = Seen{sample.time, sample.processor};
    }
    if (out_->gap) {
        close(out_->first_seen->time, out_->first_seen->processor);
    }
}

// Nobody knows when the thread comes back.
void OffProcessor::on(const RawRespite& change)
{
    if (out_) {
        close(change.time, out_->change.processor);
    }
    const bool ends = change.change == RawRespite::Change::Ends;
    respite_end_ = ends && !in_wait_ ? std::optional(change.time) : std::nullopt;
    in_wait_ = change.change == RawRespite::Change::BeginsInWait;
}

void OffProcessor::on_gap()
{
    if (out_) {
        out_->gap = true;
    }
}

std::vector<OffInterval> OffProcessor::finish(std::uint64_t end)
{
    if (out_) {
        const Seen seen = out_->first_seen.value_or(Seen{end, out_->change.processor});
        if (seen.time > out_->change.time) {
            close(seen.time, seen.processor);
        }
    }
    out_.reset();
    return std::exchange(intervals_, {});
}

void OffProcessor::close(std::uint64_t time, std::uint32_t processor)
{
    const RawSwitch& out = out_->change;
    intervals_.push_back({out.time, std::max(out.time, time), out.preempted, processor, processor != out.processor});
    out_.reset();
}

}  // namespace critpath::archive
