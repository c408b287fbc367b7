// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/message_sides.hpp"

#include "replayer/pair/lookup.hpp"

#include <chrono>

namespace critpath::replayer
{

rules::Protocol MessageSides::protocol(functions::SendMode mode, std::uint64_t bytes, bool over_before,
                                       rules::Link link) const
{
    return rules::protocol(mode, bytes, over_before, calibration_.eager_limit[static_cast<std::size_t>(link)]);
}

rules::Message MessageSides::received(std::uint32_t receive) const
{
    // The transfer of a matched message begins when its receive is posted, not when the probe found it.
    const rules::Enter post = enter_of(trace_, trace_.numbers.ref(trace_.receives.post(receive)));
    const MatchedSend send = pairs_.of_receive[receive];
    const std::uint64_t bytes = trace_.receives.bytes(receive);
    // Whether the protocol depends on what the clocks cannot tell.
    const bool is_unsure = send.within_clocks &&
                           protocol(send.mode, bytes, false, send.link) != protocol(send.mode, bytes, true, send.link);
    return {true,      post,     send.post, bytes, protocol(send.mode, bytes, send.surely_over, send.link),
            send.link, is_unsure};
}

rules::Message MessageSides::sent(const MatchedReceive& receive) const
{
    const model::Send send = trace_.sends[receive.send];
    const Ns leave = leave_of(trace_, trace_.numbers.ref(send_ends_.number(receive.send)));
    const Ns error = calibration_.clocks.between(send.post.location, receive.post.call.location);
    const bool surely_over = leave < receive.post.time && receive.post.time - leave > error;
    const bool within_clocks = leave != Ns::max() && std::chrono::abs(receive.post.time - leave) < error;
    const auto link = static_cast<std::size_t>(receive.link);
    // What is too large to be sent at once waits in the buffer as a standard send would wait.
    const bool is_buffered = send.mode == functions::SendMode::Buffered;
    const auto protocol = [&](bool over_before) {
        return rules::protocol(is_buffered ? functions::SendMode::Standard : send.mode, send.bytes, over_before,
                               is_buffered ? calibration_.eager_limit[link] : calibration_.local_limit[link]);
    };
    rules::Message message{false,
                           enter_of(trace_, send.post),
                           receive.post,
                           send.bytes,
                           protocol(surely_over),
                           receive.link,
                           within_clocks && protocol(false) != protocol(true)};
    message.held = send.mode == functions::SendMode::Standard &&
                   static_cast<std::int64_t>(send.bytes) <= calibration_.eager_limit[link];
    return message;
}

}  // namespace critpath::replayer
