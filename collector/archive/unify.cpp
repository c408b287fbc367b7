// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/unify.hpp"

#include "collector/archive/pack.hpp"
#include "collector/archive/rank_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace critpath::archive
{

namespace
{

using otf2::LocationDefinition;

template <class T>
void write(Packer& out, const std::map<std::string, T>& properties)
{
    out << static_cast<std::uint64_t>(properties.size());
    for (const auto& [name, value] : properties) {
        out << name << value;
    }
}

template <class T>
void read(Unpacker& in, std::map<std::string, T>& properties)
{
    for (std::size_t n = in.length(); n > 0; --n) {
        std::string name;
        in >> name;
        in >> properties[name];
    }
}

void pack_summary(const ProcessSummary& own, Packer& out)
{
    out << static_cast<std::uint8_t>(own.ended) << own.begin << own.end << own.realtime << own.call_graph
        << own.precise_ip << own.left_out << own.process.host;
    write(out, own.process.properties);
    out << static_cast<std::uint64_t>(own.locations.size());
    for (const LocationDefinition& location : own.locations) {
        out << location.rank << location.thread << location.events;
        write(out, location.texts);
        write(out, location.counts);
        write(out, location.numbers);
    }
}

ProcessSummary unpack_summary(Unpacker& in)
{
    ProcessSummary summary;
    std::uint8_t ended = 0;
    in >> ended;
    summary.ended = static_cast<RankEnd>(ended);
    in >> summary.begin >> summary.end >> summary.realtime >> summary.call_graph >> summary.precise_ip >>
        summary.left_out >> summary.process.host;
    read(in, summary.process.properties);
    summary.locations.resize(in.length());
    for (LocationDefinition& location : summary.locations) {
        in >> location.rank >> location.thread >> location.events;
        read(in, location.texts);
        read(in, location.counts);
        read(in, location.numbers);
    }
    return summary;
}

// The ranks whose recording did not end as it should, by how it ended; empty if all did.
std::string describe_ends(const std::vector<RankEnd>& ends)
{
    constexpr std::pair<RankEnd, const char*> words[] = {
        {RankEnd::Died, "died"},
        {RankEnd::Exited, "no MPI_Finalize"},
        {RankEnd::Full, "records lost"},
        {RankEnd::Missing, "missing"},
    };
    std::string text;
    for (const auto& [end, word] : words) {
        std::vector<std::int32_t> ranks;
        for (std::size_t rank = 0; rank < ends.size(); ++rank) {
            if (ends[rank] == end) {
                ranks.push_back(static_cast<std::int32_t>(rank));
            }
        }
        if (!ranks.empty()) {
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", word, list_ranks(ranks));
        }
    }
    return text;
}

// The summaries of all ranks in rank order, which is the order of the tree's subtrees.
void define_processes(std::span<const std::byte> summaries, const std::vector<Disagreement>& disagreements,
                      otf2::TraceDefinitions& definitions)
{
    definitions.begin = std::numeric_limits<std::uint64_t>::max();
    std::vector<RankEnd> ends;
    std::set<std::string> call_graphs;  // one, unless ranks were started with different options
    std::set<std::string> precise;      // one, unless nodes differ
    Unpacker in(summaries);
    while (!in.at_end()) {
        ProcessSummary summary = unpack_summary(in);
        ends.push_back(summary.ended);
        if (!summary.call_graph.empty()) {
            call_graphs.insert(summary.call_graph);
        }
        if (!summary.precise_ip.empty()) {
            precise.insert(summary.precise_ip);
        }
        if (definitions.left_out.empty()) {
            definitions.left_out = summary.left_out;  // all ranks record the same
        }
        if (summary.begin < definitions.begin) {
            definitions.begin = summary.begin;
            definitions.realtime = summary.realtime;
        }
        definitions.end = std::max(definitions.end, summary.end);
        definitions.processes.push_back(std::move(summary.process));
        std::move(summary.locations.begin(), summary.locations.end(), std::back_inserter(definitions.locations));
    }
    definitions.call_graph = fmt::format("{}", fmt::join(call_graphs, ","));
    definitions.precise_ip = precise.empty() ? "" : *precise.begin();
    definitions.incomplete = describe_ends(ends);
    definitions.inconsistent = describe(disagreements, ends);
}

}  // namespace

std::vector<Numbers> unify(const Communication& communication, OwnRanks& own, otf2::TraceDefinitions& definitions,
                           std::vector<Disagreement>& disagreements)
{
    const std::vector<int> children = communication.children();
    std::vector<Merged> merges;  // one a child; their tables are only needed until the next
    Tables all = own.take();
    for (const int child : children) {
        Tables theirs = unpack_tables(communication.receive(child));
        merges.push_back(merge(std::move(all), std::move(theirs)));
        all = std::move(merges.back().tables);
    }
    Numbers numbers;
    if (communication.rank() == 0) {
        numbers = number(all, definitions);
        disagreements = find_disagreements(all, numbers.communicators);
    } else {
        communication.send(communication.parent(), pack(all));
        numbers = unpack_numbers(communication.receive(communication.parent()));
    }
    for (std::size_t i = children.size(); i-- > 0;) {
        communication.send(children[i], pack(select(numbers, merges[i].second)));
        numbers = select(numbers, merges[i].first);
    }
    return own.divide(std::move(numbers));
}

void gather(const Communication& communication, std::span<const ProcessSummary> own,
            const std::vector<Disagreement>& disagreements, otf2::TraceDefinitions& definitions)
{
    Packer out;
    for (const ProcessSummary& summary : own) {
        pack_summary(summary, out);
    }
    std::vector<std::byte> summaries = out.take();
    for (const int child : communication.children()) {
        const std::vector<std::byte> theirs = communication.receive(child);
        summaries.insert(summaries.end(), theirs.begin(), theirs.end());
    }
    if (communication.rank() == 0) {
        define_processes(summaries, disagreements, definitions);
    } else {
        communication.send(communication.parent(), summaries);
    }
}

}  // namespace critpath::archive
