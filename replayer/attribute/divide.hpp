// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns whose time a segment of the path is: of the functions that samples or regions tell, of the call that it is in,
// of nobody while the thread had no processor, and of other threads while it waited for these. (formats/FORMAT.md, "How
// path time becomes rows")
#pragma once

#include "analysis/model/attribution.hpp"
#include "replayer/attribute/count.hpp"
#include "replayer/attribute/recent_map.hpp"
#include "replayer/attribute/sample_weights.hpp"
#include "replayer/attribute/surroundings.hpp"
#include "replayer/attribute/tally.hpp"
#include "replayer/attribute/team.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <vector>

namespace critpath::replayer
{

/// Divides the segments of one process of the replay, and adds the parts to a Tally; of what belongs to other threads,
/// the counts go the same way.
class PathDivider
{
public:
    /// Segments count their time from `origin`. All must outlive this.
    PathDivider(const Replay& replay, model::Ns origin, const SampledCode& code, const SampleWeights& weights,
                CountDivider& counter, Tally& tally)
        : replay_(replay), definitions_(replay.definitions), surroundings_(definitions_.contexts), code_(code),
          weights_(weights), origin_(origin), counter_(counter), tally_(tally)
    {
    }

    void add_computation(const model::Segment& segment);
    /// What passes in a call that waits for nobody, or, of a collective, for the data of others. Segment::call is its
    /// context.
    void add_call(const model::Segment& segment);
    /// A message on its way, likewise.
    void add_transfer(const model::Segment& segment);

    /// What a sample, or the lack of a processor, is time of.
    [[nodiscard]] Place place_of(const model::Sample& sample) const { return code_.place_of(sample); }
    [[nodiscard]] Place place_of(const model::OffProcessor& off, const model::LocationTrace& location);
    /// Of a part of that time, between two calls of MPI.
    [[nodiscard]] Place place_of(const model::OffProcessor& off, const model::LocationTrace& location, model::Ns begin,
                                 model::Ns end);
    /// Likewise, in a call.
    [[nodiscard]] static Place place_in_call(const model::OffProcessor& off, model::ContextId call);
    /// Whether it is the time of the function itself all the same: in a collective, to be blocked until the data of the
    /// others are there is what the call is about. Of calls that the path passes, it knows better.
    [[nodiscard]] bool is_of_call(const model::OffProcessor& off, model::ContextId call) const;

private:
    /// Where the last segment of a location was: those of one come in the order of time.
    struct Near {
        std::size_t off = 0, sample = 0, call = 0;
    };

    /// A segment in its location, which lies in a process.
    struct Stretch {
        const model::ProcessTrace& trace;
        const model::LocationTrace& location;
        std::uint32_t process;
        model::Ns begin, end;
        Near& near;
    };
    /// What the segments of a location have in common.
    struct OfLocation {
        const model::ProcessTrace* trace = nullptr;  // null: no segment has come yet
        const model::LocationTrace* location = nullptr;
        std::uint32_t process = 0;
        Near near;
    };

    /// What a sample stands for beyond the wait that it was taken in.
    struct Rest {
        Work work;
        Between place;  // of who waited
        std::int64_t ns;
    };

    /// What threads have of a wait, ns.
    using Given = std::map<const model::LocationTrace*, std::int64_t>;

    /// Samples that divide `ns` of the path, each at its time, or else at the next one in [begin, end].
    struct Shared {
        const std::vector<Work>& work;
        std::int64_t ns;
        model::Ns begin, end;
        std::uint64_t independent;  // samples that they count as
        PathThread thread;
        std::deque<Rest>* rests = nullptr;  // where to keep what is left of them
    };

    /// A part of the path's time that belongs to one place, of the thread `owner`.
    struct Part {
        model::AttributionKind kind;
        Place place;
        model::LocationId owner;
        model::Ns begin;
        std::int64_t ns;
        PathThread thread = PathThread::Works;
        std::uint64_t address = 0;
        bool is_found = false;  // the thread was found blocked there
    };

    /// What a sample of `ns`, of the thread `owner`, is time of, at `time` of the path.
    struct Sampled {
        model::LocationId owner;
        model::Ns time;
        std::int64_t ns;
        std::uint64_t independent;  // samples that it counts as
        PathThread thread;
    };

    /// Where a thread lacks a processor.
    [[nodiscard]] model::ContextId context_of(const model::LocationTrace& location, const model::OffProcessor& off,
                                              model::Ns begin, model::Ns end);
    [[nodiscard]] Stretch stretch_of(const model::Segment& segment)
    {
        OfLocation& of_location = locations_[model::LocationId{segment.location}];
        if (of_location.trace == nullptr)
            look_up({segment.location}, of_location);
        return {*of_location.trace,
                *of_location.location,
                of_location.process,
                origin_ + model::Ns{segment.begin},
                origin_ + model::Ns{segment.end},
                of_location.near};
    }
    void look_up(model::LocationId location, OfLocation& found) const;
    [[nodiscard]] static model::Ns enter_of_call(const Stretch& stretch);
    void add_interval(const Stretch& stretch, const Part& part);
    void add_sample(const Stretch& stretch, const model::Sample& sample);
    void add_spinning(const Stretch& stretch, const model::Sample& sample);
    void add_sampled(const Stretch& stretch, const model::Sample& sample, const Sampled& sampled);
    void share_out(const Stretch& stretch, const Shared& shared);
    template <class Add>
    static std::int64_t for_each_off(const Stretch& stretch, Add add);
    Given give_to_team(const Stretch& stretch, const Waiter& waiter);
    std::int64_t give_rests(const Stretch& stretch, const Waiter& waiter, const Given& already);
    void add_rest(const Stretch& stretch, const Waiter& waiter, const Work& work, model::LocationId owner,
                  model::Ns begin, std::int64_t ns);
    static std::int64_t sum_of(const Given& given);
    void share_out(const Stretch& stretch, const std::vector<Lack>& lacks, model::Ns begin, std::int64_t ns,
                   PathThread thread);

    const Replay& replay_;
    const model::Definitions& definitions_;
    Surroundings surroundings_;
    std::map<model::LocationId, std::deque<Rest>> rests_;  // by who waits; in the order of their waits
    const SampledCode& code_;
    const SampleWeights& weights_;
    model::Ns origin_;
    struct ByLocation {
        std::size_t operator()(model::LocationId location) const { return location.value; }
    };
    RecentMap<model::LocationId, OfLocation, ByLocation> locations_;
    CountDivider& counter_;
    Tally& tally_;
};

/// Calls `visit(place, ns)` for each innermost user region in [begin, end), and for what is outside of all.
template <class Visit>
void for_each_user_region(const model::LocationTrace& location, model::Ns begin, model::Ns end, Visit visit)
{
    const auto& changes = location.user_regions;
    auto next = std::ranges::upper_bound(changes, begin, {}, &model::RegionChange::time);
    auto context = next == changes.begin() ? model::ContextId::none() : std::prev(next)->context;
    while (begin < end) {
        const model::Ns until = next == changes.end() ? end : std::min(end, next->time);
        if (until > begin)
            visit(context.valid() ? Place{context} : Place{context, Pseudo::Compute}, (until - begin).count());
        begin = until;
        if (next != changes.end())
            context = (next++)->context;
    }
}

}  // namespace critpath::replayer
