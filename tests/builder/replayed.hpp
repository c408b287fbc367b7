// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a test replays a built program, and how it states what it expects.
#pragma once

#include "analysis/model/attribution.hpp"
#include "analysis/model/counts.hpp"
#include "analysis/model/path.hpp"
#include "analysis/model/profile.hpp"
#include "analysis/model/totals.hpp"
#include "replayer/analysis.hpp"
#include "replayer/engine.hpp"
#include "replayer/rules/calibration.hpp"
#include "tests/builder/program.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace critpath::tests
{

/// The outcome of a replay.
struct Replayed {
    model::Profile profile;
    std::vector<model::Segment> segments;  // the whole path; calls are call paths
    std::vector<model::Attribution> attributions;
    model::CountTable counts;
    std::vector<model::TotalPart> totals;
    std::vector<model::ComputedParts> computed;

    /// The segments in words, times in us: "compute 0: 0-10 | transfer 0>1: 10-12 | compute 1: 12-20". Neighbouring
    /// segments of one kind and place are one; a "?" behind the kind says low confidence.
    [[nodiscard]] std::string path() const;
    /// Path time of a row over all processes, us.
    [[nodiscard]] std::int64_t path_us(const std::string& row) const;
    [[nodiscard]] std::int64_t total_us(const std::string& row) const;
    /// "main;solve;MPI_Recv: 3 | ..." of the call paths with time on the path, us, in alphabetical order; and of all.
    [[nodiscard]] std::string call_paths() const;
    [[nodiscard]] std::string all_call_paths() const;
    [[nodiscard]] std::int64_t fact(const std::string& key) const { return profile.facts.at(key); }
};

/// `program` as the processes of `comm` hold it. Collective.
replayer::Replay load(const Program& program, MPI_Comm comm, replayer::Rules rules);

/// Puts what a test knows about the machine in the place of what the replay has learned from the trace.
using Knowledge = std::function<void(replayer::rules::Calibration&)>;
inline const Knowledge knows_nothing = [](replayer::rules::Calibration&) {};
/// That of a process alone, whatever its bytes.
inline Knowledge iallreduce_takes(std::int64_t microseconds)
{
    return [microseconds](replayer::rules::Calibration& calibration) {
        for (int bucket = 0; bucket < 64; ++bucket)
            calibration.collectives.set({FunctionId::MPI_Iallreduce, bucket, replayer::rules::size_bucket(1)},
                                        std::chrono::microseconds{microseconds});
    };
}

/// What the path is walked on.
struct Resolved {
    replayer::Pairs pairs;
    replayer::Collectives collectives;
    replayer::Predecessors predecessors;
};
/// `at_once`: collectives are concluded while their instances come by, as far as that can be; or else all of them
/// later.
Resolved resolve(const replayer::Replay& loaded, const Knowledge& know = knows_nothing,
                 const replayer::Engine& engine = replayer::aggregated_engine, bool at_once = true);

/// The rest of the phases; the outcome is as that of `replay`.
Replayed walk(const replayer::Replay& loaded, const Resolved& resolved, replayer::WalkPath walk_path);

/// All phases. The outcome is whole on process 0; on the others it has no segments and of the profile the facts, the
/// properties and the rows. Collective over `loaded.comm`.
Replayed replay(const replayer::Replay& loaded, const Knowledge& know = knows_nothing,
                const replayer::Engine& engine = replayer::aggregated_engine);

/// On all processes of the test together; the outcome is whole on all of them (those behind the first replay once more,
/// alone). Collective.
Replayed replay(const Program& program, replayer::Rules rules = replayer::Rules::Arrival);
Replayed replay_alone(const Program& program, replayer::Rules rules);

/// Everything in the profile, in words.
std::string text(const model::Profile& profile);
bool same_bytes(const std::vector<model::Segment>& a, const std::vector<model::Segment>& b);
bool same_bytes(const std::vector<model::Attribution>& a, const std::vector<model::Attribution>& b);
bool same_bytes(const model::CountTable& a, const model::CountTable& b);
bool same_bytes(const std::vector<model::TotalPart>& a, const std::vector<model::TotalPart>& b);
bool same_bytes(const std::vector<model::ComputedParts>& a, const std::vector<model::ComputedParts>& b);

/// Which parts of two outcomes are not the same to the last byte.
std::vector<std::string> differences(const Replayed& a, const Replayed& b);

/// The path of `replay(program, rules)` in words.
std::string path(const Program& program, replayer::Rules rules = replayer::Rules::Arrival);

}  // namespace critpath::tests
