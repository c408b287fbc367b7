// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Why callers are not known, as far as a profile that was put together by hand can tell.
#include "analysis/report/caller_notes.hpp"
#include "analysis/report/inclusive.hpp"
#include "formats/support/longest_chains.hpp"
#include "tests/report/one_rank.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::report
{
namespace
{

using model::CallPathId;
using model::RowKind;

constexpr CallPathId no_caller = CallPathId::none();

// What has been tried is not advised.
TEST(CallerNotes, SaysHowElseCallersMayBeKnown)
{
    OneRank run;
    run.add("main", no_caller, 600);
    run.add("leaf", run.add("[unknown callers]", no_caller, 0), 100);
    const auto advises = [&](const std::string& call_graph, const std::string& option) {
        run.profile().properties["call_graph"] = call_graph;
        const std::vector<std::string> notes = caller_notes(by_function_inclusive(run.profile()), run.profile());
        return notes.size() == 1 && notes[0].find("cpcollect --call-graph=" + option) != std::string::npos;
    };
    EXPECT_TRUE(advises("dwarf", "dwarf,32768"));
    EXPECT_TRUE(advises("dwarf,16384", "dwarf,32768"));
    EXPECT_TRUE(advises("dwarf,32768", "fp"));
    EXPECT_TRUE(advises("fp", "dwarf"));
    EXPECT_TRUE(advises("none", "dwarf"));
    EXPECT_FALSE(advises("dwarf,32768", "dwarf"));
    EXPECT_FALSE(advises("fp", "fp"));
}

// `functions` that call each other, cut off; the last has the time.
CallPathId add_chain(OneRank& run, std::uint32_t functions, std::int64_t ns)
{
    CallPathId at = run.add("[unknown callers]", no_caller, 0);
    for (std::uint32_t i = 0; i < functions; ++i)
        at = run.add("recurse", at, i + 1 == functions ? ns : 0);
    return at;
}

std::string note_of(OneRank& run)
{
    run.profile().properties["call_graph"] = "dwarf";
    const std::vector<std::string> notes = caller_notes(by_call_path(run.profile()), run.profile());
    EXPECT_EQ(notes.size(), 1U);
    return notes.empty() ? "" : notes.front();
}

bool says(const std::string& note, const std::string& words)
{
    return note.find(words) != std::string::npos;
}

// No option makes it longer.
TEST(CallerNotes, SayThatAChainIsLongerThanWhatIsRecorded)
{
    OneRank run;
    run.add("main", no_caller, 800);
    add_chain(run, longest_sampled_chain, 100);
    const CallPathId call = add_chain(run, longest_chain_to_call, 0);
    run.add("MPI_Send", call, 100, RowKind::Mpi);
    const std::string note = note_of(run);
    EXPECT_TRUE(says(note, "of 20.0 % of the path it is not known")) << note;
    EXPECT_TRUE(says(note, ": the chain of calls is longer than what is recorded")) << note;
    EXPECT_FALSE(says(note, "cpcollect")) << note;
}

TEST(CallerNotes, TellLongChainsFromOthers)
{
    OneRank run;
    run.add("main", no_caller, 700);
    add_chain(run, longest_sampled_chain, 100);
    const CallPathId shorter = add_chain(run, longest_sampled_chain - 1, 50);
    run.profile().rows.push_back({RowKind::Sampled, "in_kernel", "[kernel]", "", 0});
    run.add("in_kernel", shorter, 150);  // none of the application's
    const std::string note = note_of(run);
    EXPECT_TRUE(says(note, "of 30.0 % of the path it is not known")) << note;
    EXPECT_TRUE(says(note, "In 10.0 % the chain of calls is longer than what is recorded")) << note;
    EXPECT_TRUE(says(note, "The other 20.0 %: more was on the stack than was copied")) << note;
}

// All of these are what main calls.
TEST(CallerNotes, AreSilentWhereAllCallersAreKnown)
{
    OneRank run;
    CallPathId at = run.add("main", no_caller, 0);
    for (std::uint32_t i = 0; i < longest_sampled_chain; ++i)
        at = run.add("recurse", at, 1);
    run.profile().properties["call_graph"] = "dwarf";
    EXPECT_TRUE(caller_notes(by_call_path(run.profile()), run.profile()).empty());
}

}  // namespace
}  // namespace critpath::report
