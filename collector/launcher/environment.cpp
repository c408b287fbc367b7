// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/environment.hpp"

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace critpath::launcher
{
namespace
{

std::optional<int> number(const char* name)
{
    const std::string text = environment_value(name);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) {
        return std::nullopt;
    }
    return value;
}

std::optional<int> first_number(std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        if (const auto value = number(name)) {
            return value;
        }
    }
    return std::nullopt;
}

std::optional<int> launched_rank()
{
    constexpr bool is_mpich = std::string_view(CRITPATH_MPI) == "MPICH";
    // Hydra may be started by a launcher with PMIx, mpirun by one with PMI, never the other way round.
    const auto rank = is_mpich ? first_number({"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"})
                               : first_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"});
    // A batch script is not a task of a step, but has a number like one.
    return rank || environment_value("SLURM_STEP_ID").empty() ? rank : number("SLURM_PROCID");
}

std::optional<int> launched_ranks()
{
    const auto ranks = first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
    return ranks || environment_value("SLURM_STEP_ID").empty() ? ranks : number("SLURM_STEP_NUM_TASKS");
}

bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '+' || c == '-';
}

}  // namespace

ProcessPlace find_place()
{
    ProcessPlace place;
    if (const auto rank = launched_rank()) {
        place.is_parallel = true;
        place.rank = *rank;
        place.ranks = launched_ranks().value_or(1);
    }
    place.rank_on_node =
        first_number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"}).value_or(0);
    return place;
}

std::string find_job()
{
    for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "PJM_JOBID", "JOB_ID"}) {
        const std::string job = environment_value(name);
        if (!job.empty()) {
            return as_file_name(job.substr(0, job.find('.')));  // PBS appends its server
        }
    }
    return {};
}

std::string environment_value(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

std::string as_file_name(const std::string& text)
{
    std::string name = text;
    for (char& c : name) {
        if (!is_plain(c)) {
            c = '_';
        }
    }
    return name;
}

}  // namespace critpath::launcher
