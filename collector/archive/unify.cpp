// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/unify.hpp"

#include "collector/archive/pack.hpp"

#include <algorithm>
#include <limits>
#include <map>

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

std::vector<std::byte> pack_summary(const ProcessSummary& own)
{
    Packer out;
    out << own.begin << own.end << own.realtime << own.process.host;
    write(out, own.process.properties);
    out << static_cast<std::uint64_t>(own.locations.size());
    for (const LocationDefinition& location : own.locations) {
        out << location.rank << location.thread << location.events;
        write(out, location.texts);
        write(out, location.counts);
        write(out, location.numbers);
    }
    return out.take();
}

ProcessSummary unpack_summary(Unpacker& in)
{
    ProcessSummary summary;
    in >> summary.begin >> summary.end >> summary.realtime >> summary.process.host;
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

// The summaries of all ranks in rank order, which is the order of the tree's subtrees.
void define_processes(std::span<const std::byte> summaries, otf2::TraceDefinitions& definitions)
{
    definitions.begin = std::numeric_limits<std::uint64_t>::max();
    Unpacker in(summaries);
    while (!in.at_end()) {
        ProcessSummary summary = unpack_summary(in);
        if (summary.begin < definitions.begin) {
            definitions.begin = summary.begin;
            definitions.realtime = summary.realtime;
        }
        definitions.end = std::max(definitions.end, summary.end);
        definitions.processes.push_back(std::move(summary.process));
        std::move(summary.locations.begin(), summary.locations.end(), std::back_inserter(definitions.locations));
    }
}

}  // namespace

Numbers unify(const Communication& communication, const Tables& own, otf2::TraceDefinitions& definitions)
{
    const std::vector<int> children = communication.children();
    std::vector<Merged> merges;  // one a child; their tables are only needed until the next
    Tables all = own;
    for (const int child : children) {
        Tables theirs = unpack_tables(communication.receive(child));
        merges.push_back(merge(std::move(all), std::move(theirs)));
        all = std::move(merges.back().tables);
    }
    Numbers numbers;
    if (communication.rank() == 0) {
        numbers = number(all, definitions);
    } else {
        communication.send(communication.parent(), pack(all));
        numbers = unpack_numbers(communication.receive(communication.parent()));
    }
    for (std::size_t i = children.size(); i-- > 0;) {
        communication.send(children[i], pack(select(numbers, merges[i].second)));
        numbers = select(numbers, merges[i].first);
    }
    return numbers;
}

void gather(const Communication& communication, const ProcessSummary& own, otf2::TraceDefinitions& definitions)
{
    std::vector<std::byte> summaries = pack_summary(own);
    for (const int child : communication.children()) {
        const std::vector<std::byte> theirs = communication.receive(child);
        summaries.insert(summaries.end(), theirs.begin(), theirs.end());
    }
    if (communication.rank() == 0) {
        define_processes(summaries, definitions);
    } else {
        communication.send(communication.parent(), summaries);
    }
}

}  // namespace critpath::archive
