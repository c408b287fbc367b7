// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which random damage a number stands for.
#pragma once

#include "tests/bad_input/judge.hpp"
#include "tests/bad_input/mutate.hpp"

namespace critpath::bad_input
{

class RandomCases
{
public:
    [[nodiscard]] Case make(std::uint64_t number) const
    {
        Random random(number);
        Archive archive = archives_[number % archives_.size()];
        std::string words = mutate(archive, archives_, random);
        return {std::move(archive), std::move(words)};
    }

private:
    std::vector<Archive> archives_ = {twins(), variety()};
};

}  // namespace critpath::bad_input
