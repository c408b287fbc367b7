// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the events of one location, in the order and with the times that the collector gives them (formats/FORMAT.md):
// what belongs to the start of a call has the time of its enter, what belongs to its end that of its leave.
#pragma once

#include "bench/generate/machine.hpp"
#include "bench/generate/vocabulary.hpp"
#include "formats/otf2/event_writer.hpp"

#include <cstdint>

namespace critpath::bench
{

/// When the samples of a location are due.
struct Sampling {
    Time period = 0;  // ns; 0: none
    Time first = 0;
};

class Location
{
public:
    Location(otf2::EventWriter writer, const Vocabulary& vocabulary, Sampling sampling);

    void begin(Time time);
    void end(Time time);

    void enter(FunctionId function, Time time);
    void leave(FunctionId function, Time time);

    // Whole calls.
    void send(Time enter, Time leave, const otf2::Envelope& message);
    void recv(Time enter, Time leave, const otf2::Envelope& message);
    std::uint64_t isend(Time enter, const otf2::Envelope& message);  // the request; takes Machine::post, as does irecv
    std::uint64_t irecv(Time enter);
    void collective(FunctionId function, Time enter, Time leave, const otf2::CollectiveEnd& operation);
    void split(Time enter, Time leave, const otf2::CollectiveEnd& operation, OTF2_CommRef created);

    // Within a call that waits, at its leave; before them, its samples.
    void sample_call(Time left)
    {
        if (next_sample_ <= left)
            sample_until(left, true);
    }
    void sent(Time time, std::uint64_t request) { writer_.isend_complete(stamp(time), request); }
    void received(Time time, const otf2::Envelope& message, std::uint64_t request)
    {
        writer_.irecv(stamp(time), message, request);
    }

    [[nodiscard]] std::uint64_t messages() const { return messages_; }
    [[nodiscard]] otf2::EventWriter& writer() { return writer_; }

private:
    static std::uint64_t stamp(Time time) { return static_cast<std::uint64_t>(time); }
    void sample_until(Time time, bool in_call);

    otf2::EventWriter writer_;
    const Vocabulary& vocabulary_;
    Sampling sampling_;
    Time next_sample_;
    std::uint64_t samples_ = 0;
    std::uint64_t request_ = 0;
    std::uint64_t messages_ = 0;
};

}  // namespace critpath::bench
