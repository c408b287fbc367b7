// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the messages that the calls of one process complete look to the rules.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/pair/send_ends.hpp"
#include "replayer/rules/calibration.hpp"
#include "replayer/rules/message_rule.hpp"

#include <cstdint>

namespace critpath::replayer
{

class MessageSides
{
public:
    /// References are kept.
    MessageSides(const model::ProcessTrace& trace, const ProcessPairs& pairs, const SendEnds& send_ends,
                 const rules::Calibration& calibration)
        : trace_(trace), pairs_(pairs), send_ends_(send_ends), calibration_(calibration)
    {
    }

    /// By number in the process: the call that completed it; none, also where the receive has no send.
    [[nodiscard]] std::uint32_t completion_of_receive(std::uint32_t receive) const
    {
        return pairs_.of_receive.has(receive) ? trace_.receives.completion(receive) : model::CallNumbers::none;
    }
    /// `i`: index into ProcessPairs::of_send.
    [[nodiscard]] std::uint32_t completion_of_send(std::uint32_t i) const
    {
        return send_ends_.number(pairs_.of_send[i].send);
    }
    /// The receive must have a send.
    [[nodiscard]] rules::Message received(std::uint32_t receive) const;
    [[nodiscard]] rules::Message sent(const MatchedReceive& receive) const;

private:
    [[nodiscard]] rules::Protocol protocol(functions::SendMode mode, std::uint64_t bytes, bool over_before,
                                           rules::Link link) const;

    const model::ProcessTrace& trace_;
    const ProcessPairs& pairs_;
    const SendEnds& send_ends_;
    const rules::Calibration& calibration_;
};

}  // namespace critpath::replayer
