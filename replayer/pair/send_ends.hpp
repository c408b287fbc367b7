// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where a sender waits until its message was taken.
#pragma once

#include "analysis/model/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace critpath::replayer
{

/// By send of one process: the call that completes it; of a buffered one, which is completed at once, the
/// MPI_Buffer_detach behind it (MPI-3.1, 3.6: that waits until all that is in the buffer has been transmitted).
class SendEnds
{
public:
    /// References are kept.
    SendEnds(const model::Definitions& definitions, const model::ProcessTrace& trace)
        : definitions_(definitions), trace_(trace)
    {
    }

    /// Number of the call in its process (model::CallNumbers); none if there is none.
    [[nodiscard]] std::uint32_t number(std::size_t send) const
    {
        const bool is_buffered = trace_.sends.mode(send) == functions::SendMode::Buffered;
        return is_buffered ? detach_behind(send) : trace_.sends.completion(send);
    }

private:
    struct Detach {
        model::Ns enter;
        std::uint32_t number;
    };
    [[nodiscard]] std::uint32_t detach_behind(std::size_t send) const;
    [[nodiscard]] std::vector<Detach> find_detaches() const;

    const model::Definitions& definitions_;
    const model::ProcessTrace& trace_;
    mutable std::optional<std::vector<Detach>> detaches_;  // ascending; looked for when a buffered send is asked about
};

}  // namespace critpath::replayer
