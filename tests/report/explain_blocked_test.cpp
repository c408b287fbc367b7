// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Where a rank is blocked, as is said of stretches of which it is plain.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using namespace tests;

TEST(ExplainBlocked, WhereItIsBlockedIsSaid)
{
    model::Profile p = without_code(one_stretch());
    const auto blocked = [&](const char* in, std::int64_t ns) {
        add_code(
            p, {sampled("main"), sampled("step"), sampled(in), sampled("read", "/lib/libc.so.6"), pseudo("[blocked]")},
            {0, {}, ns, 0, 0, 0});
    };
    blocked("load", 500 * ms);
    blocked("log", 100 * ms);
    add_code(p, {sampled("main"), sampled("step"), sampled("kernel")}, {0, {}, 400 * ms, 400, 0, 0, 400 * ms});
    p.stretches[0].own_blocked_ns = 600 * ms;
    p.stretches[0].processor_ns = 0;
    p.stretches[0].blocked_ns = 500 * ms;
    EXPECT_THAT(sentence(p),
                HasSubstr("It was blocked for 600 ms of that, as it seems in load (83 %; seen for 0 % of it)."));
    EXPECT_THAT(sentence(p), HasSubstr("find out what it waits for in load: a file, a pipe or a socket (read)."));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("MPI_Waitall to MPI_Allreduce"));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("(blocked in load)"));
    for (const model::StretchCode& c : p.stretch_code)
        if (p.row(c.call_path).name == "[blocked]")
            p.path.push_back({c.call_path, {3}, c.ns, 0, 0, c.ns / 2});
    EXPECT_THAT(sentence(p), HasSubstr("as it seems in load (83 %; seen for 50 % of it)."));
    for (model::CallPathTime& time : p.path)
        time.found_ns = std::max(time.found_ns, time.ns * 19 / 20);
    EXPECT_THAT(sentence(p), HasSubstr("It was blocked for 600 ms of that, in load (83 %)."));
    blocked("log", 300 * ms);
    EXPECT_THAT(sentence(p),
                HasSubstr("find out what it waits for outside of MPI: a file, a pipe or a socket (read)."));
    add_code(p, {sampled("main"), sampled("spread"), pseudo("[blocked]")}, {0, {}, 3000 * ms, 0, 0, 0});
    EXPECT_THAT(
        sentence(p),
        HasSubstr("find out what it waits for in spread: files, locks, memory, or a stop (SIGSTOP, a debugger)."));
}

/// Of a binary without symbols, functions have no names that anybody knows.
TEST(ExplainBlocked, AFunctionWithoutANameIsNamedByWhatItCalls)
{
    model::Profile p = without_code(one_stretch());
    const model::Row place = sampled("app+0x1200", "/bin/app"), sleep = sampled("clock_nanosleep", "/lib/libc.so.6");
    add_code(p,
             {sampled("main", "/bin/app"), place, sampled("zgemm_", "/lib/libblas.so.3"), sleep, pseudo("[blocked]")},
             {0, {}, 500 * ms, 0, 0, 0});
    p.stretches[0].own_blocked_ns = 500 * ms;
    p.stretches[0].processor_ns = 0;
    p.stretches[0].blocked_ns = 500 * ms;
    EXPECT_EQ(explain(p, 0).code.blocked.in->name, "zgemm_");
    EXPECT_EQ(explain(p, 0).code.blocked.in->caller, "app+0x1200");
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("(blocked in zgemm_)"));
    // The C library says how it waits, and not where.
    p.stretch_code.clear();
    add_code(p, {sampled("main", "/bin/app"), place, sleep, pseudo("[blocked]")}, {0, {}, 500 * ms, 0, 0, 0});
    EXPECT_EQ(explain(p, 0).code.blocked.in->name, "app+0x1200");
}

/// The peers are blocked in `load`, too: what is to be mended is where they are not.
TEST(ExplainBlocked, WhereItIsBlockedLongerIsSaid)
{
    model::Profile p = without_code(one_stretch());
    const auto blocked = [&](const char* in, const char* by, std::int64_t ns, std::int64_t peers_ns) {
        add_code(p, {sampled("main"), sampled("step"), sampled(in), sampled(by, "/lib/libc.so.6"), pseudo("[blocked]")},
                 {0, {}, ns, 0, 0, 0, peers_ns});
    };
    blocked("load", "read", 400 * ms, 410 * ms);
    blocked("nap", "clock_nanosleep", 500 * ms, 0);
    add_code(p, {sampled("main"), sampled("step"), sampled("kernel")}, {0, {}, 100 * ms, 100, 0, 0, 100 * ms});
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 900 * ms;
    s.processor_ns = 0;
    s.blocked_ns = 490 * ms;
    const auto gaps = [&](std::int64_t known) {
        s.code_gaps = known;
        return sentence(p);
    };
    EXPECT_THAT(gaps(s.gaps),
                HasSubstr("It was blocked for 900 ms of that; what it is blocked longer than its peers is "
                          "as it seems in nap (100 %; seen for 0 % of it)."));
    EXPECT_THAT(gaps(s.gaps),
                HasSubstr("find out what it waits for in nap: time that it lets pass (clock_nanosleep)."));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("(blocked in nap)"));
    EXPECT_THAT(gaps(0), HasSubstr("It was blocked for 900 ms of that."));
    s.blocked_ns = 900 * ms;  // the split says otherwise
    EXPECT_THAT(gaps(s.gaps), HasSubstr("It was blocked for 900 ms of that."));
}

}  // namespace
}  // namespace critpath::report
