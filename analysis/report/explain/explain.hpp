// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the figures of a stretch of computation mean: why the path is there, and on that rank, in one plain
// sentence or a few. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/model/profile.hpp"
#include "formats/binary/source_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::report
{

enum class Verdict : std::uint8_t {
    NoPeers,         // nothing to compare it with, or most of it
    Balanced,        // the others take as long
    Serial,          // likewise, but not at the same time; or one after the other, around the same call
    Unequal,         // likewise together, but ranks that differ are on the path by turns, and each other's peers
    Shorter,         // the others take longer
    PersistentRank,  // the same ranks take longer each time
    PersistentNode,  // the ranks of the same nodes do
    FasterRanks,     // most ranks take as long; the same few take less each time
    Transient,       // they differ from time to time, not by rank
    ThreadsInMpi,    // it waits, or its peers do, maybe for threads that are in MPI
    Rare,            // it happens too rarely, there or on the path, to tell these apart
};
std::string_view name(Verdict verdict);

// What is said, and what is too little to be said. docs/ALGORITHM, "Explanations", has the reasons.
inline constexpr double balanced_within = 0.05;  // of the time of the peers
inline constexpr double mostly_from = 2.0 / 3;   // of the stretch: on one rank
inline constexpr double most_from = 0.5;         // of the stretch: a function, or a few together, are most of it
inline constexpr double at_most_lacked = 0.999;  // a processor, of a time: something is done in it
inline constexpr double nearly_all_times = 0.9;  // or of what takes longer: no other time, or rank, is worth a word
inline constexpr double least_part = 0.02;       // of the time of the peers: of a factor
inline constexpr double off_from = 0.02;         // of the stretch: without a processor, or waiting for threads
inline constexpr double by_times_from = 2;       // of the time of the peers: it takes so many times as long
inline constexpr std::size_t most_named = 3;     // functions
// Times: figures of a difference that are told in two ways, and mean the same one.
inline constexpr double same_difference_within = 1.5;
inline constexpr std::size_t sentence_name_width = 48;
inline constexpr std::size_t headline_name_width = 36;  // so that most headlines are one line

/// What can make a gap longer, in the order of model::Stretch; page faults are a part of what comes before Preempted.
enum class Factor : std::uint8_t {
    Instructions,
    Cycles,  // for each instruction
    Frequency,
    InstructionTime,  // the two before together
    AllCycles,        // the first two together
    Processor,        // the first three together
    Preempted,
    Blocked,
    PageFaults,
    Threads,  // likewise a part of what comes before: it waits for others of its process
    Time      // all of the above, where time without a processor is not known
};
inline constexpr std::size_t factors = 8;  // that have a part of their own
std::string_view name(Factor factor);

/// Factors that cannot be told apart, in words.
struct Untold {
    std::string_view what;    // "instructions and cycles per instruction"
    std::string why;          // a sentence without its end
    bool by_nothing = false;  // nobody has counted anything there
};

/// How often something happens to 1,000 instructions, on the path and on the peers. What samples tell of all
/// occurrences.
struct MissRate {
    /// Than on the peers; beyond doubt, and often enough to matter.
    enum class More : std::uint8_t { Yes, No, MayBe };

    double own = 0, peers = 0;
    double error = 0;  // of the logarithm of their quotient, 95 %
    More is_more = More::MayBe;
};

/// Names in so many columns that tell a function, its caller, and what is inlined, from all others of a stretch.
struct ShortNames {
    std::string name, caller, inlined;
};

/// A function, and its part of a time.
struct FunctionShare {
    std::string name;  // all of it
    double share = 0;
    std::string caller = {};   // the function of the application that mostly has it done; empty: itself, or not known
    std::string inlined = {};  // the function inlined into it that has most of that; empty: none, or not known
    ShortNames shown = {}, headline = {};  // in sentences, and above them
    std::string apart = {};   // the binary or file that tells it from another function of this name; empty: it need not
    bool with_calls = false;  // it is what it calls that makes it so much
};

/// Where a thread is blocked.
struct BlockedAt {
    std::optional<FunctionShare> in = {};  // the function of the application that has most of it
    std::string by = {};                   // the function of the C library that is most of it: "read"; empty: none
    double seen = 0;                       // for that part of it, it was found there; the rest is a guess
};

/// What the path's time in a stretch is time of.
struct Code {
    std::vector<FunctionShare> functions;  // with the most of it, that first; few
    // What the path's thread has of all functions more than those of the peers; 0 if what these do is not known. And
    // the functions with the most of it, of which one may have more than all together, where that is more than chance.
    std::int64_t longer_ns = 0;
    std::int64_t longer_error_ns = 0;  // of that, 95 %
    std::vector<FunctionShare> longer;
    // Those functions have hardly any of the stretch's page faults, so that these do not make the difference.
    bool longer_without_faults = false;
    // The thread on the path waits for others of its process,
    std::int64_t spinning_ns = 0;  // and looks all the time whether they are done
    std::int64_t blocked_ns = 0;
    std::int64_t preempted_ns = 0;  // of these: they had no processor
    // Spinning is told by samples. Those in short gaps may stand for more than the time that the thread had a processor
    // there, of which spinning_ns is a part; this is what they stand for, as it is known of the peers.
    std::int64_t sampled_spinning_ns = 0;
    std::int64_t preempted_while_blocked_ns = 0;
    std::int64_t measurement_ns = 0;  // the collector's work, as samples find it, if that is no chance
    std::int64_t not_sampled_ns = 0;  // of the stretch, where that is much, and nobody knows if it had a processor
    std::optional<FunctionShare> of_threads;  // what they do most of that time
    BlockedAt blocked;                        // the path's own thread, for something else
    BlockedAt blocked_longer;                 // and for longer than its peers

    [[nodiscard]] std::int64_t threads_ns() const { return spinning_ns + blocked_ns; }
};

/// Of the path's time in a stretch, what is no work of its thread. No time is in two of them.
struct Losses {
    std::int64_t preempted_ns = 0;
    std::int64_t threads_ns = 0;            // it waits for others of its process, blocked or spinning
    std::int64_t threads_preempted_ns = 0;  // of that: these had no processor
    std::int64_t blocked_ns = 0;            // for something else
    std::int64_t measurement_ns = 0;        // recording took it
    std::int64_t not_sampled_ns = 0;        // nobody knows
};

/// One of them, where it is much.
struct MainLoss {
    Factor cause{};    // Preempted, Threads or Blocked
    double share = 0;  // of the path's time in the stretch

    [[nodiscard]] bool is_most() const { return share >= most_from; }
};

/// The functions that are inlined at an address of a row, innermost first, each once; empty if none is, or nobody
/// knows.
using InlinedAt = std::function<std::vector<std::string>(const model::Row& row, std::uint64_t address)>;

/// Many more page faults than the peers.
bool has_more_faults(const model::Difference& difference);

/// Of the stretch with this index.
Code code_of(const model::Profile& profile, std::size_t stretch, const InlinedAt& inlined_at = {});

/// By how much gaps on the path take longer than their peers, and by what.
struct Reason {
    double excess = 0;                     // by how much longer than peers, as a part of their time; 0 without peers
    std::array<double, factors> parts{};   // of that, by Factor
    std::array<double, factors> errors{};  // of these, 95 %; 0 but where samples tell
    // Likewise, by how much they differ from one time to the next: of all factors of work together, and of the others.
    std::array<double, factors> spreads{};
    double longer_on_processor = 0;  // by itself: work has a part of what it is preempted, too
    // Where it takes longer: the largest part, or page faults, if they can be that part, or other threads likewise.
    std::optional<Factor> cause;

    /// Whether this part is more than what samples may be wrong by.
    [[nodiscard]] bool is_certain(std::size_t factor) const { return std::abs(parts[factor]) > errors[factor]; }
    /// Whether it is so time and again: a few times of many, which make as much in the sum, may be none another time.
    [[nodiscard]] bool is_typical(Factor factor) const;
};

/// What all factors of the time on the processor together are a part of.
double on_processor_part(const Reason& reason);

/// That of the gaps of one rank.
struct RankReason : Reason {
    std::size_t rank = 0;
    double share = 0;       // of what takes longer
    std::int64_t gaps = 0;  // on the path
};

/// Of one rank, if it had most of them: the peers of the others may be that one.
struct PageFaults {
    std::optional<std::size_t> rank;
    std::int64_t own = 0, peers = 0;  // of the mean peer, in the same gaps
    std::int64_t longer_ns = 0;       // on the processor
};

/// The one in which a stretch takes longer than on its peers, where there is one.
struct PartOfRun {
    std::int64_t begin_ns = 0, end_ns = 0;  // since the run began
    std::int64_t times = 0;                 // on the path, in it,
    std::int64_t much_longer = 0;           // and of these, half as long again as on the peers, or more
};

/// A rank that comes to the stretch from another call of the function before it than the one with the most of it.
struct OtherCall {
    std::size_t rank = 0;
    std::string own_site, site;  // of the rank with the most of it, and of this one
};

struct Explanation : Reason {
    // Reason: of all ranks on the path together; but for the cause, where `named` is there.
    std::shared_ptr<const model::Stretch> stretch;
    double path_share = 0;  // of the whole path
    // Functions that both calls were made by, and what is between them is in, outermost first: "main > step"; may be
    // empty.
    std::string caller;
    // "the start of the process" where no call is before it.
    std::string before;  // the calls, with what only led to that one in front: "MPI_Waitall", "exchange > MPI_Waitall"
    std::string after;
    std::string innermost_caller, call_before, call_after;  // of each of these three, the last function
    // Where these are made: "/src/solve.c:12", or "solve+0x1234" where lines are not known; empty: not recorded.
    std::string before_site, after_site;
    std::string before_shown_site, after_shown_site;  // likewise, in words: " (solve.c:12)"; may be empty
    // What tells it from stretches that would read alike, in words, and from those between calls of the same functions
    // in the same one; empty: there is none.
    std::string apart, calls_apart;
    std::size_t rank = 0;  // with the most of it
    double rank_share = 0;
    std::size_t ranks_on_path = 0;
    std::string node;  // of that rank, or the node with the most of it where nodes differ
    double node_share = 0;
    std::size_t longer_rank = 0;         // of what takes longer than on peers: the rank with the most
    double longer_share = 0;             // and the part of it, 0 if nothing does
    std::size_t second_longer_rank = 0;  // likewise, the next one
    double second_longer_share = 0;
    std::int64_t longer_ns = 0;  // what all of these take longer
    double by_turns = 0;         // what ranks take longer, and others less, as a part of the longer time
    double cancelled = 0;        // likewise, whatever of that they have on the path themselves
    // All figures of the difference are those of the ranks that take longer: they and others, which take as much less,
    // are each other's peers.
    bool is_of_longer_ranks = false;
    double together_excess = 0;              // excess of all ranks on the path, where the other one is of the longer
    std::optional<double> persistent;        // part of the variance that is between ranks
    std::optional<double> persistent_nodes;  // and of that, between nodes
    // The part of its time that the other ranks work, too, in the mean, with their first threads; not known where other
    // threads than these call MPI, nor if there is no other rank.
    std::optional<double> others_at_work;
    // One rank after the other has work around the same call, where the others then have next to nothing: there is
    // nothing to compare it with, and nothing of a Reason is left. What is known of peers tells no more than that.
    bool takes_turns = false;
    // What the path computes more than the busiest of the ranks that do not take longer here, or than the mean rank if
    // that is more: a part of the path. Where all ranks have much to do, in the whole run, nothing else can be gained.
    // Not known where ranks do not compare, nor where none takes longer.
    std::optional<double> most_gain;
    Code code;
    bool knows_off = true;            // samples tell when it had no processor; else that counts as time on it
    bool has_threads = false;         // some rank that has it on the path has several
    bool are_threads_in_mpi = false;  // in this run: others than the first of a process call it, too
    Verdict verdict = Verdict::NoPeers;
    // The rank that the verdict is about, where `cause` is its own and not that of all on the path together; and of the
    // others that have another one, the one with the most, if that is much.
    std::optional<RankReason> named, other;
    std::optional<Factor> second;  // makes nearly as much of the same difference, and has a remedy of its own
    PageFaults faults;
    std::optional<OtherCall> other_call;
    std::optional<PartOfRun> part_of_run;  // of what is transient
    bool is_costliest_known = true;        // something tells what was done when it took longer most
    std::optional<Untold> untold;          // of those with peers
    std::optional<MissRate> cache_misses, branch_misses;

    /// Of what is a part of the peers' time, as those of a Reason.
    [[nodiscard]] double ns_of(double part_of_peers) const
    {
        return part_of_peers * static_cast<double>(std::max<std::int64_t>(stretch->peers_ns, 1));
    }
    /// It lies before the first call.
    [[nodiscard]] bool is_at_start() const { return !stretch->before.valid(); }
    /// Of nearly all of its time.
    [[nodiscard]] bool knows_all_off() const { return knows_off && code.not_sampled_ns == 0; }
    /// Whether it takes longer because its instructions do.
    [[nodiscard]] bool has_slow_instructions() const;
    /// The functions that make what it takes longer than on its peers, with their parts of that; empty: nothing tells.
    [[nodiscard]] std::vector<FunctionShare> difference() const;
    /// Many more page faults than the peers.
    [[nodiscard]] bool has_more_faults() const;
    /// So often more on another processor than the peers that it can have taken a part of the time.
    [[nodiscard]] bool has_more_migrations() const;
    /// By itself: the part of the difference also has what lacking a processor makes of it.
    [[nodiscard]] std::int64_t longer_on_processor_ns() const;
    /// What the peers lacked a processor for themselves, by their mean.
    [[nodiscard]] std::int64_t peers_preempted_ns() const;
    /// Of what is not blocked, how much longer it takes for each unit of the logarithm of a factor.
    [[nodiscard]] double per_log_ns() const;
    /// For something else than its threads.
    [[nodiscard]] std::int64_t blocked_otherwise_ns() const;
    /// Whether a part of what it takes longer, that is worth a word, is that.
    [[nodiscard]] bool is_blocked_longer() const;
    /// Where it is so for longer than its peers, if that is known; else where it is.
    [[nodiscard]] const BlockedAt& blocked_to_mend() const
    {
        return is_blocked_longer() && code.blocked_longer.in ? code.blocked_longer : code.blocked;
    }
    [[nodiscard]] Losses losses() const;
    /// Whether recording took most of what the path's thread does there, as far as it is known: then next to nothing of
    /// it is the application's, and figures of it say nothing of that.
    [[nodiscard]] bool is_mostly_measurement() const;
    /// Of what it takes longer, at least so much is waiting for other threads.
    [[nodiscard]] std::int64_t longer_for_threads_ns() const;
    /// Of what it takes longer blocked, most is surely that.
    [[nodiscard]] bool is_blocked_for_threads() const;
    /// And so much is that these lack a processor, in proportion, for longer than those of the peers, or these.
    [[nodiscard]] std::int64_t longer_for_processors_ns() const;
    /// What the peers wait for may be in MPI, or what it waits for itself, and that may be all of the difference.
    [[nodiscard]] bool may_wait_in_mpi() const;
    /// What takes much of the stretch and is not its work, whoever else does it likewise; `but` what is said already.
    [[nodiscard]] std::optional<MainLoss> main_loss(std::optional<Factor> but = std::nullopt) const;
    /// The part of the whole path that is gone, at most, if it takes no longer than on its peers, or without that loss.
    [[nodiscard]] double could_gain() const;
    /// Whether that is much less than what it takes longer: the others have their work elsewhere.
    [[nodiscard]] bool are_others_as_busy() const;
    /// Of what lacks a processor, whether the threads that it waits for do so for longer than it does itself.
    [[nodiscard]] bool is_lack_of_threads() const;
    /// Whether the others hardly work meanwhile, and that is not just because they have less to do there.
    [[nodiscard]] bool are_others_idle() const;
    /// Whether they are so because it is another rank's turn, most of the times.
    [[nodiscard]] bool are_others_waiting_for_turns() const;
    /// How often the ranks come to the place that do so, but for the one that does most often, or two that do; their
    /// mean.
    [[nodiscard]] double mean_times_of_others() const;
    /// Whether that one comes much more often, or both do, and so have more of this work.
    [[nodiscard]] bool comes_unevenly() const;
    /// Whether two come about as often as each other, and both much more often than the others.
    [[nodiscard]] bool have_two_most_times() const;
    /// Of more ranks, whether two have nearly all of what takes longer, each of them much, and are the slow ones.
    [[nodiscard]] bool are_always_two_ranks() const;
    /// Whose cause it is: the rank's that is named, or that of all on the path together.
    [[nodiscard]] const Reason& reason() const { return named ? static_cast<const Reason&>(*named) : *this; }
    /// Whether it happens so often that its spreads say something of other times.
    [[nodiscard]] bool has_many_times() const;
    /// Whether it is known to be by rank, or node.
    [[nodiscard]] bool is_by_rank() const;
    /// Whether nearly all of the differences are.
    [[nodiscard]] bool is_nearly_always() const { return persistent.value_or(0) >= 0.9; }
    /// Of what takes longer, one of several times has most.
    [[nodiscard]] bool is_mostly_once() const;
    /// By half of what the peers take, or more, each time that it is on the path.
    [[nodiscard]] bool is_much_longer_each_time() const;
    /// Nearly all times that a rank comes to the place are on the path.
    [[nodiscard]] bool is_on_path_each_time() const;
    /// One rank is much longer so often, and always, that it is so by rank, though the variance does not say that: most
    /// of it may be that of one time, of other work of the rank, or of ranks that come more often.
    [[nodiscard]] bool is_persistent_by_times() const;
    /// Whether some ranks take longer on the path, and others less, and always the same ones.
    [[nodiscard]] bool has_unequal_ranks() const;
    /// Whether most ranks take as long as the slowest one, and some take less.
    [[nodiscard]] bool has_faster_ranks() const;
    /// Whether what is known says anything of this factor, as far as it is one of the processor.
    [[nodiscard]] bool knows(Factor factor) const;
    /// Whether what takes longer is on one rank, and that is the slowest one. The rank that takes longer on the path
    /// need not be the one that does so the most.
    [[nodiscard]] bool is_always_one_rank() const;
    /// How many times as long as the fastest rank the slowest one takes.
    [[nodiscard]] double slowest_by_fastest() const;

    /// In words, without the number. `trace`: as the user may type it.
    [[nodiscard]] std::string sentence(const model::Profile& profile, std::string_view trace) const;
    /// Likewise, the gist of it, in about one line: who, where, by how much, and the verdict.
    [[nodiscard]] std::string headline() const;
};

/// "ranks 2 and 3".
std::string two_ranks_in_words(std::size_t one, std::size_t other);
/// "62 % longer than", "4.5 times as long as".
std::string change_in_words(double excess);
/// "Most of it in compute (58 %) and build (39 %)."; empty where nothing tells.
std::string code_in_words(const Code& code);
/// Which functions take longer than on the peers, if that is not said by what takes most of the time.
std::string longer_in_words(const Explanation& explanation);
/// How long it waits for other threads, and what these do; empty if that is next to nothing.
std::string threads_in_words(const Explanation& explanation);

/// Of the stretch with this index. The explanation must not outlive the profile.
Explanation explain(const model::Profile& profile, std::size_t stretch, binary::SourceLines* lines = nullptr);

}  // namespace critpath::report
