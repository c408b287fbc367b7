// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/literal/standstill.hpp"

#include <utility>

namespace critpath::replayer::literal
{

bool Standstill::is_patient(std::uint64_t progress)
{
    if (progress_ != progress) {
        progress_ = progress;
        since_ = MPI_Wtime();
        looks_ = 0;
    }
    return ++looks_ < least_looks || MPI_Wtime() - since_ < patience_;
}

Standstill::Verdict Standstill::ask(bool at_end, std::uint64_t progress)
{
    if (round_ == MPI_REQUEST_NULL) {
        if (!at_end && is_patient(progress))
            return Verdict::Wait;
        sums_[0] = progress;
        sums_[1] = at_end ? 0 : 1;
        MPI_Iallreduce(MPI_IN_PLACE, sums_, 2, MPI_UINT64_T, MPI_SUM, comm_, &round_);
    }
    int done = 0;
    MPI_Test(&round_, &done, MPI_STATUS_IGNORE);
    if (done == 0)
        return Verdict::Wait;
    progress_ = std::numeric_limits<std::uint64_t>::max();  // be patient anew
    if (sums_[1] == 0)
        return Verdict::End;
    return std::exchange(last_sum_, sums_[0]) == sums_[0] ? Verdict::GiveWay : Verdict::Wait;
}

}  // namespace critpath::replayer::literal
