// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/grammar.hpp"

#include "tests/oracle/grammar/blocks.hpp"

#include <fmt/format.h>

#include <random>

namespace critpath::oracle
{

namespace
{

struct Rule {
    const char* name;
    void (*draw)(Sketch& s);
    int before = 60;  // ranks compute before it for that long at most (Sketch::compute)
};

/// By BlockKind.
constexpr Rule rules[block_kinds] = {
    {"halo", blocks::halo},
    {"sweep", blocks::sweep},
    {"pairs", blocks::pairs},
    {"farm", blocks::farm},
    {"collectives", blocks::collectives},
    {"overlap", blocks::overlap},
    {"crossing", blocks::crossing},
    {"probes", blocks::probes},
    {"probe loops", blocks::probe_loops},
    {"buffers", blocks::buffers},
    {"cancelled", blocks::cancelled},
    {"between groups", blocks::between_groups},
    {"neighbourhoods", blocks::neighbourhoods},
    {"amounts", blocks::amounts},
    {"threads", blocks::threads},
    {"tool", blocks::tool},
    {"files", blocks::files},
    {"creations", blocks::creations},
    {"ready", blocks::ready},
    {"across groups", blocks::across_groups},
    {"started together", blocks::started_together},
    {"copies", blocks::copies},
    {"standing", blocks::standing},
    {"exchange", blocks::exchange, 1},
};

const Rule& rule(BlockKind kind)
{
    return rules[static_cast<std::size_t>(kind)];
}

/// One block, in which ranks compute for another time each time.
Recipe repeated(int ranks, BlockKind kind, std::mt19937& random)
{
    Recipe recipe{ranks, {}};
    const auto content = static_cast<std::uint32_t>(random());
    for (auto i = 8 + random() % 10; i > 0; --i)
        recipe.blocks.push_back({kind, content, static_cast<std::uint32_t>(random())});
    return recipe;
}

}  // namespace

const char* name(BlockKind kind)
{
    return rule(kind).name;
}

Recipe random_recipe(std::uint32_t seed)
{
    std::mt19937 random(seed);
    Recipe recipe{2 + static_cast<int>(random() % 7), {}};
    for (auto i = 3 + random() % 10; i > 0; --i)
        recipe.blocks.push_back(
            {static_cast<BlockKind>(random() % random_kinds), static_cast<std::uint32_t>(random())});
    return recipe;
}

Recipe alike_recipe(std::uint32_t seed)
{
    std::mt19937 random(seed);
    const int ranks = 2 + static_cast<int>(random() % 7);
    return repeated(ranks, static_cast<BlockKind>(random() % random_kinds), random);
}

Recipe standing_recipe(std::uint32_t seed)
{
    std::mt19937 random(seed);
    const int ranks = 2 + static_cast<int>(random() % 7);
    return repeated(ranks, BlockKind::Standing, random);
}

Recipe exchange_recipe(std::uint32_t seed)
{
    std::mt19937 random(seed);
    const int ranks = 2 + static_cast<int>(random() % 7);
    return repeated(ranks, BlockKind::Exchange, random);
}

Program expand(const Recipe& recipe)
{
    Sketch sketch(recipe.ranks);
    for (const Block& block : recipe.blocks) {
        sketch.seed(block.seed, block.times);
        sketch.each([&](int r) { sketch.compute(r, rule(block.kind).before); });
        rule(block.kind).draw(sketch);
    }
    sketch.each([&](int r) { sketch.compute(r); });
    return sketch.finish();
}

std::string text(const Recipe& recipe)
{
    std::string words = fmt::format("{} ranks:", recipe.ranks);
    for (const Block& block : recipe.blocks)
        words += fmt::format(" {}({})", name(block.kind), block.seed);
    return words;
}

}  // namespace critpath::oracle
