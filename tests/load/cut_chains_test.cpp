// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Call chains that were cut off.
#include "formats/otf2/function_map.hpp"
#include "replayer/load/cut_chains.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

namespace critpath::test
{
namespace
{

using model::ContextId;
using model::RegionId;
using testing::ElementsAre;
using testing::UnorderedElementsAreArray;

/// Chains, each from its outermost function to the one that was sampled; functions have one letter, those of MPI are
/// capital. A digit is where the one before calls the one behind it; "?" are callers that are not known.
class Chains
{
public:
    explicit Chains(const std::vector<std::string>& chains)
    {
        for (const std::string& chain : chains)
            add(chain);
    }

    void add(const std::string& chain)
    {
        ContextId parent = ContextId::none();
        std::uint64_t site = 0;
        for (const char name : chain) {
            if (std::isdigit(name) != 0) {
                site = static_cast<std::uint64_t>(name - '0');
                continue;
            }
            const auto [region, is_new_region] = regions_.try_emplace(name, RegionId{size(definitions_.regions)});
            if (is_new_region) {
                model::Region& made = definitions_.regions.emplace_back();
                made.name = name == '?' ? std::string(otf2::unknown_callers_region) : std::string(1, name);
                made.role = std::isupper(name) != 0 ? model::RegionRole::Mpi : model::RegionRole::Sampled;
            }
            const auto [context, is_new] =
                contexts_.try_emplace({parent, region->second, site}, ContextId{size(definitions_.contexts)});
            if (is_new)
                definitions_.contexts.push_back({region->second, parent, site});
            parent = context->second;
            site = 0;
        }
        ends_.push_back(parent);
    }

    /// The chains as they are when what was cut off is continued.
    std::vector<std::string> continued()
    {
        const std::vector<ContextId> same = replayer::load::continue_cut_chains(definitions_);
        std::vector<std::string> result;
        std::map<std::string, ContextId> context_of;
        for (const ContextId old : ends_) {
            const ContextId end = same[old.value];
            std::string chain;
            for (ContextId c = end; c.valid() && chain.size() < 100; c = definitions_.contexts[c.value].parent) {
                const std::string& name = definitions_.region(c).name;
                chain += name == otf2::unknown_callers_region ? "?" : name;
                if (const std::uint64_t site = definitions_.contexts[c.value].site; site != 0)
                    chain += std::to_string(site);
            }
            std::reverse(chain.begin(), chain.end());
            EXPECT_EQ(context_of.try_emplace(chain, end).first->second, end) << "two contexts of " << chain;
            result.push_back(chain);
        }
        return result;
    }

private:
    template <class Items>
    static std::uint32_t size(const Items& items)
    {
        return static_cast<std::uint32_t>(items.size());
    }

    model::Definitions definitions_;
    std::map<char, RegionId> regions_;
    std::map<std::tuple<ContextId, RegionId, std::uint64_t>, ContextId> contexts_;
    std::vector<ContextId> ends_;
};

std::vector<std::string> continued(const std::vector<std::string>& chains)
{
    return Chains(chains).continued();
}

TEST(CutChains, GoOnWhereTheirFunctionWasCalledFrom)
{
    EXPECT_THAT(continued({"smfX", "fg"}), ElementsAre("smfX", "smfg"));
    EXPECT_THAT(continued({"smfX", "g", "fg"}), ElementsAre("smfX", "smfg", "smfg"));
}

TEST(CutChains, StayWhereSeveralPlacesCallTheirFunction)
{
    EXPECT_THAT(continued({"sfX", "mfY", "fg"}), ElementsAre("sfX", "mfY", "fg"));
    EXPECT_THAT(continued({"smX", "g"}), ElementsAre("smX", "g"));
}

TEST(CutChains, GoOnWhereOneFunctionCallsTheirsAtSeveralPlaces)
{
    EXPECT_THAT(continued({"sm1fX", "sm2fX", "fg"}), ElementsAre("sm1fX", "sm2fX", "smfg"));
    EXPECT_THAT(continued({"sm1fX", "sm1fY", "f3g"}), ElementsAre("sm1fX", "sm1fY", "sm1f3g"));
    for (const auto& [first, second] : {std::pair("s1mfX", "s2mfX"), std::pair("s2mfX", "s1mfX")})
        EXPECT_THAT(continued({first, second, "fg"}), ElementsAre(first, second, "s1mfg"));
    EXPECT_THAT(continued({"sm1fX", "sn1fX", "fg"}), ElementsAre("sm1fX", "sn1fX", "fg"));
}

TEST(CutChains, OfFunctionsThatCallThemselvesStay)
{
    EXPECT_THAT(continued({"fgf"}), ElementsAre("fgf"));
    EXPECT_THAT(continued({"ab", "ba"}), ElementsAre("ab", "ba"));
    EXPECT_THAT(continued({"aa", "a"}), ElementsAre("aa", "a"));
}

TEST(CutChains, WhoseCallersAreKnownNowhereStay)
{
    EXPECT_THAT(continued({"?mfX", "fg"}), ElementsAre("?mfX", "fg"));
    EXPECT_THAT(continued({"smfX", "?nhY", "fg", "?fg"}), ElementsAre("smfX", "?nhY", "fg", "?fg"));
}

TEST(CutChains, CallsOfMpiStayWhereTheyAre)
{
    EXPECT_THAT(continued({"mfX", "X"}), ElementsAre("mfX", "X"));
}

/// Each function is known to be called by the one before alone, and only what that is called by makes it clear what is
/// behind: a step a round. To go to the end would take longer than a test has.
TEST(CutChains, GoOnForSoManyStepsOnly)
{
    constexpr std::uint32_t many = 1'000;  // far more than steps
    model::Definitions definitions;
    definitions.regions.resize(many + 1);
    for (std::uint32_t i = 0; i <= many; ++i) {
        definitions.regions[i].name = std::to_string(i);
        definitions.regions[i].role = model::RegionRole::Sampled;
    }
    for (std::uint32_t i = 0; i < many; ++i) {
        definitions.contexts.push_back({RegionId{i}, ContextId::none()});
        definitions.contexts.push_back({RegionId{i + 1}, ContextId{2 * i}});
    }
    static_cast<void>(replayer::load::continue_cut_chains(definitions));
    const auto depth = [&](std::uint32_t context) {
        int steps = 0;
        for (ContextId c{context}; c.valid(); c = definitions.contexts[c.value].parent)
            ++steps;
        return steps;
    };
    EXPECT_EQ(depth(0), 1);
    EXPECT_EQ(depth(2), 2);
    EXPECT_EQ(depth(2 * 64), 65);
    EXPECT_EQ(depth(2 * many - 2), 1);
}

/// Of a random call tree, chains cut off at random become chains of that tree, in whatever order they come; where each
/// function has one caller and one chain is whole, all are whole again.
TEST(CutChains, OfATreeAreChainsOfTheTree)
{
    for (unsigned seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        const bool unique = seed % 2 == 0;
        std::vector<std::string> tree = {"a"};
        for (char name = 'b'; name <= 'p'; ++name)
            for (int places = unique ? 1 : 1 + static_cast<int>(random() % 2); places > 0; --places)
                tree.push_back(tree[random() % tree.size()] + name);
        std::vector<std::string> cut;
        for (int i = 0; i < 20; ++i) {
            const std::string& chain = tree[random() % tree.size()];
            cut.push_back(chain.substr(random() % chain.size()));
        }
        if (unique)
            cut.insert(cut.end(), tree.begin(), tree.end());
        std::vector<std::string> once = continued(cut);
        for (std::size_t i = 0; i < cut.size(); ++i) {
            EXPECT_TRUE(once[i].ends_with(cut[i])) << "seed " << seed;
            if (unique) {
                EXPECT_EQ(std::count(tree.begin(), tree.end(), once[i]), 1) << "seed " << seed << ": " << once[i];
            }
        }
        std::shuffle(cut.begin(), cut.end(), random);
        EXPECT_THAT(continued(cut), UnorderedElementsAreArray(once)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace critpath::test
