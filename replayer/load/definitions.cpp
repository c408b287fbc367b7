// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/load/definitions.hpp"

#include "formats/otf2/function_map.hpp"
#include "replayer/load/code_definitions.hpp"
#include "replayer/load/communicator_definitions.hpp"
#include "replayer/load/cut_chains.hpp"
#include "replayer/load/definition_step.hpp"
#include "replayer/load/process_definitions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace critpath::replayer::load
{

using namespace model;

namespace
{

// PAPI's names, which Score-P uses, too.
constexpr std::string_view instructions_counter = "PAPI_TOT_INS";
constexpr std::string_view cycles_counter = "PAPI_TOT_CYC";

/// How events are told: by which clock, with which attributes and counters, and what samples stand for.
class RecordingStep : DefinitionStep
{
public:
    using DefinitionStep::DefinitionStep;

    void define()
    {
        add_clock();
        add_attributes();
        add_reasons();
        add_counters();
        add_generator();
    }

private:
    void add_clock()
    {
        if (!in_.clock || in_.clock->resolution == 0) {
            contradict("no clock resolution");
        }
        if (in_.clock->resolution >= static_cast<std::uint64_t>(farthest_time)) {
            contradict("a clock of {} ticks a second", in_.clock->resolution);
        }
        __extension__ using Wide = __int128;
        constexpr Wide largest = std::numeric_limits<std::int64_t>::max();
        constexpr Wide ns_per_second = 1'000'000'000;
        if (in_.clock->offset > largest || in_.clock->offset * ns_per_second / in_.clock->resolution > largest) {
            fail(ExitCode::BadTrace,
                 "{}: the clock stands at {} ticks of 1/{} s, which is more than the 292 years that its times can be "
                 "told in; record the application with another clock (Score-P: SCOREP_TIMER)",
                 file_, in_.clock->offset, in_.clock->resolution);
        }
        vocabulary_.clock = TickClock(in_.clock->resolution);
        definitions_.begin = vocabulary_.clock.to_ns(in_.clock->offset);
        const Wide end = Wide{in_.clock->offset} + in_.clock->length;
        if (in_.clock->length > 0 && end < largest) {
            vocabulary_.run =
                RunTime{definitions_.begin, vocabulary_.clock.to_ns(static_cast<std::uint64_t>(end)), false};
        }
    }

    void add_attributes()
    {
        auto& a = vocabulary_.attributes;
        const std::pair<std::string_view, OTF2_AttributeRef*> known[] = {
            {"critpath.mode", &a.mode},
            {"critpath.message", &a.message},
            {"critpath.source", &a.source},
            {"critpath.tag", &a.tag},
            {"critpath.comm", &a.comm},
            {"critpath.offset", &a.offset},
            {"critpath.period", &a.period},
            {"critpath.reason", &a.reason},
            {"critpath.skipped", &a.skipped},
            {"critpath.dest", &a.dest},
            {"critpath.assertions", &a.assertions},
            {"critpath.page_faults", &a.page_faults},
            {"critpath.counted", &a.counted},
            {"critpath.in_degree", &a.in_degree},
            {"critpath.blocked_in", &a.blocked_in},
            {"critpath.waits_for", &a.waits_for},
            {"critpath.processor", &a.processor},
            {"critpath.operation", &a.operation},
            {"critpath.between_polls", &a.between_polls},
        };
        for (const auto& attribute : in_.attributes) {
            for (const auto& [name, reference] : known) {
                if (in_.text(attribute.name) == name) {
                    *reference = attribute.self;
                }
            }
        }
    }

    void add_reasons()
    {
        for (const auto& [reference, text] : in_.strings) {
            if (text == otf2::user_reason) {
                vocabulary_.user_reason = reference;
            }
        }
    }

    void add_counters()
    {
        if (vocabulary_.attributes.page_faults != OTF2_UNDEFINED_ATTRIBUTE) {
            definitions_.counted.emplace_back(page_faults_event);
        }
        for (const Metric& metric : in_.metrics) {
            if (metric.occurrence == OTF2_METRIC_ASYNCHRONOUS) {
                add_events(metric);
                continue;
            }
            CounterPlaces places;
            for (std::size_t i = 0; i < metric.members.size(); ++i) {
                const auto member = in_.metric_members.find(metric.members[i]);
                if (member == in_.metric_members.end() || member->second.mode != OTF2_METRIC_ACCUMULATED_START) {
                    continue;
                }
                const std::string& name = in_.text(member->second.name);
                if (name == instructions_counter) {
                    places.instructions = static_cast<std::uint8_t>(i);
                } else if (name == cycles_counter) {
                    places.cycles = static_cast<std::uint8_t>(i);
                }
            }
            if (places.any()) {
                vocabulary_.counters[metric.self] = places;
            }
        }
    }

    /// Events that stand before samples, not before calls.
    void add_events(const Metric& metric)
    {
        constexpr std::size_t most = 64;
        auto& names = definitions_.counted;
        if (names.size() + metric.members.size() > most) {
            return;
        }
        EventPlaces places;
        for (const OTF2_MetricMemberRef reference : metric.members) {
            const auto member = in_.metric_members.find(reference);
            if (member == in_.metric_members.end() || member->second.mode != OTF2_METRIC_ACCUMULATED_START) {
                return;
            }
            const std::string& name = in_.text(member->second.name);
            const auto known = std::ranges::find(names, name);
            places.push_back(static_cast<std::size_t>(known - names.begin()));
            if (known == names.end()) {
                names.push_back(name);
            }
        }
        vocabulary_.sampled[metric.self] = std::move(places);
    }

    void add_generator()
    {
        if (in_.generators.empty()) {
            return;
        }
        const auto& first = in_.generators.front();
        auto& generator = vocabulary_.generator;
        generator.reference = first.self;
        generator.period = first.period;
        generator.counts_time = first.mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME;
        const double base = first.base == OTF2_BASE_BINARY ? 2 : 10;
        const auto exponent = static_cast<double>(first.exponent);
        constexpr double ns_per_second = 1e9;
        generator.ns_per_unit =
            first.base == OTF2_BASE_DECIMAL ? std::pow(base, exponent + 9) : std::pow(base, exponent) * ns_per_second;
        definitions_.has_samples = true;
        definitions_.event = in_.text(first.name);
        definitions_.period_unit = generator.counts_time ? "ns" : "count";
        definitions_.period =
            generator.counts_time
                ? static_cast<std::uint64_t>(std::llround(static_cast<double>(first.period) * generator.ns_per_unit))
                : first.period;
    }
};

/// What each property `module_property` + number says: "<build-id or -> <path>".
std::map<std::string, std::string> read_build_ids(const otf2::Reader& reader)
{
    std::map<std::string, std::string> result;
    for (std::size_t i = 0;; ++i) {
        const std::string module = reader.property(otf2::module_property + std::to_string(i));
        const std::size_t space = module.find(' ');
        if (space == std::string::npos) {
            return result;
        }
        result.emplace(module.substr(space + 1), module.substr(0, space));
    }
}

/// Of all samples; of one without callers nobody knows what it was called by.
bool has_callers(const std::string& call_graph)
{
    return !call_graph.empty() && call_graph.find("none") == std::string::npos;
}

}  // namespace

LoadedDefinitions read_definitions(otf2::Reader& reader, const std::string& file)
{
    Collected collected;
    reader.read_definitions(collected);
    LoadedDefinitions loaded;
    RecordingStep(collected, file, loaded).define();
    define_code(collected, file, loaded);
    define_communicators(collected, file, define_processes(collected, file, loaded), loaded);
    if (loaded.vocabulary.run) {
        loaded.vocabulary.run->exact = !reader.property(otf2::version_property).empty();
    }
    loaded.definitions.incomplete = reader.property(otf2::incomplete_property);
    loaded.definitions.inconsistent = reader.property(otf2::inconsistent_property);
    loaded.definitions.build_ids = read_build_ids(reader);
    loaded.definitions.precise_ip = reader.property(otf2::precise_ip_property);
    loaded.definitions.call_graph = reader.property(otf2::call_graph_property);
    loaded.definitions.left_out = reader.property(otf2::left_out_property);
    if (has_callers(loaded.definitions.call_graph)) {
        const auto same = continue_cut_chains(loaded.definitions);
        loaded.vocabulary.contexts.replace([&](ContextId context) { return same[context.value]; });
    }
    return loaded;
}

}  // namespace critpath::replayer::load
