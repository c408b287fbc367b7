// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/sums.hpp"

#include <mpi.h>

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

namespace
{

static_assert(sizeof(Spread) == Spread::numbers * sizeof(std::int64_t));

/// The sums of all processes; a Stretch is integers and two ids, which nobody has set.
void add_up(const Replay& replay, std::vector<model::Stretch>& sums)
{
    constexpr std::size_t numbers = sizeof(model::Stretch) / sizeof(std::int64_t);
    static_assert(sizeof(model::Stretch) % sizeof(std::int64_t) == 0);
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size() * numbers), MPI_INT64_T, MPI_SUM,
                  replay.comm);
    for (model::Stretch& stretch : sums)
        stretch.before = stretch.after = model::CallPathId::none();
}

/// Of all processes. `here`: by place, of the owned ones.
void add_costliest(const Replay& replay, const std::vector<Costliest>& here, std::vector<model::Stretch>& sums)
{
    const auto places = static_cast<int>(here.size());
    std::vector<std::int64_t> most(here.size()), first(here.size(), INT64_MAX);
    std::ranges::transform(here, most.begin(), &Costliest::longer_ns);
    MPI_Allreduce(MPI_IN_PLACE, most.data(), places, MPI_INT64_T, MPI_MAX, replay.comm);
    for (std::size_t i = 0; i < here.size(); ++i)
        if (here[i].longer_ns == most[i] && here[i].process >= 0)
            first[i] = here[i].process;
    MPI_Allreduce(MPI_IN_PLACE, first.data(), places, MPI_INT64_T, MPI_MIN, replay.comm);
    std::vector<std::int64_t> times(2 * here.size(), 0);
    for (std::size_t i = 0; i < here.size(); ++i)
        if (here[i].process == first[i]) {
            times[2 * i] = here[i].begin_ns;
            times[2 * i + 1] = here[i].length_ns;
        }
    MPI_Allreduce(MPI_IN_PLACE, times.data(), 2 * places, MPI_INT64_T, MPI_SUM, replay.comm);
    for (std::size_t i = 0; i < here.size(); ++i) {
        sums[i].costliest_ns = most[i];
        sums[i].costliest_rank = most[i] > 0 ? first[i] : -1;
        sums[i].costliest_begin_ns = times[2 * i];
        sums[i].costliest_length_ns = times[2 * i + 1];
    }
}

}  // namespace

Sums sum_up(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen)
{
    std::vector<model::Stretch> sums(chosen.places());
    Compared compared = compare(replay, gaps, chosen, sums);
    const std::vector<FewestSamples> fewest =
        tell_by_samples(replay, gaps, chosen, compared.uncounted, sums, compared.notable);
    add_up(replay, sums);
    constexpr std::size_t numbers = sizeof(Longer) / sizeof(std::int64_t);
    MPI_Allreduce(MPI_IN_PLACE, compared.longer.data(), static_cast<int>(numbers * sums.size()), MPI_INT64_T, MPI_SUM,
                  replay.comm);
    MPI_Allreduce(MPI_IN_PLACE, compared.spreads.data(), Spread::numbers * static_cast<int>(sums.size()), MPI_INT64_T,
                  MPI_SUM, replay.comm);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        compared.spreads[i].write_to(sums[i]);
        if (sums[i].compared == 0)
            compared.costliest[i] = compared.longest[i];
    }
    add_costliest(replay, compared.costliest, sums);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i].fewest_samples = fewest[i].samples;
        sums[i].fewest_samples_rank = fewest[i].rank;
    }
    const auto whole = [](std::int64_t& number, std::int64_t parts) { number = (number + parts / 2) / parts; };
    const auto whole_faults = [&](model::Difference& difference) {
        whole(difference.page_faults, parts_of_a_fault);
        whole(difference.peers_page_faults, parts_of_a_fault);
    };
    std::vector<model::StretchRank> ranks = compared.notable.take(replay);
    std::ranges::for_each(ranks, whole_faults);
    for (model::Stretch& stretch : sums) {
        whole_faults(stretch);
        whole(stretch.migrations, parts_of_a_migration);
        whole(stretch.peers_migrations, parts_of_a_migration);
        rates_of_sums(stretch);
    }
    find_persistence(replay, gaps, chosen, compared.shares, compared.longer, sums);
    return {std::move(sums), std::move(compared.longer), std::move(compared.shares), std::move(ranks)};
}

}  // namespace critpath::replayer
