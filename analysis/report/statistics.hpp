// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the sampling error of a share of the critical path (docs/ALGORITHM, "Samples").
#pragma once

#include <cmath>
#include <cstdint>

namespace critpath::report
{

/// Half width of the 95 % interval of a share that samples found. Samples count only in the compute segments
/// (`sampled_domain_ns` of `path_ns`), so that within these the share is binomial with p = ns / sampled_domain_ns
/// and n = `samples` that fell into them; 1.96·sqrt(p(1−p)/n) of that domain is the error. As a share of the whole
/// path it shrinks by the domain's part of the path. Where all samples are of one kind, up to 3/n may be of others.
inline double sampling_error(std::int64_t ns, std::uint64_t samples, std::int64_t sampled_domain_ns,
                             std::int64_t path_ns)
{
    if (samples == 0 || sampled_domain_ns <= 0 || path_ns <= 0)
        return 0;
    const double p = std::fmin(1.0, static_cast<double>(ns) / static_cast<double>(sampled_domain_ns));
    const auto n = static_cast<double>(samples);
    // That nothing else was hit is no proof that there is nothing else: the rule of three.
    const double within = p < 1 ? 1.96 * std::sqrt(p * (1 - p) / n) : std::fmin(1.0, 3 / n);
    return within * static_cast<double>(sampled_domain_ns) / static_cast<double>(path_ns);
}

}  // namespace critpath::report
