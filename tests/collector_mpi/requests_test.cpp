// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/requests.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <vector>

namespace critpath::preload
{
namespace
{

constexpr std::uint64_t shared = 0x1000;

class RequestsTest : public testing::Test
{
protected:
    RequestsTest() { requests_.set_shared_handle(shared); }

    std::uint64_t post(std::uint64_t handle, const void* location)
    {
        Request request;
        request.id = requests_.next_id();
        requests_.post(handle, location, request);
        return request.id;
    }

    // Id of the request that completes here; 0: unknown.
    std::uint64_t complete(std::uint64_t handle, const void* location)
    {
        const Requests::Index index = requests_.find(handle, location);
        if (index == Requests::none) {
            return 0;
        }
        const std::uint64_t id = requests_.at(index).id;
        requests_.erase(index);
        return id;
    }

    Requests requests_;
    char variable_[8] = {};  // locations of request variables
};

TEST_F(RequestsTest, FindsARequestWhereverItsHandleWasCopied)
{
    const std::uint64_t id = post(42, &variable_[0]);
    EXPECT_EQ(complete(42, &variable_[5]), id);
    EXPECT_EQ(complete(42, &variable_[5]), 0U);
}

TEST_F(RequestsTest, UnknownHandlesAreNotFound)
{
    EXPECT_EQ(complete(7, &variable_[0]), 0U);
    EXPECT_EQ(complete(shared, &variable_[0]), 0U);
    post(42, &variable_[0]);
    EXPECT_EQ(complete(43, &variable_[0]), 0U);
}

// At MPI_THREAD_MULTIPLE a handle may be given out again before the thread that has waited for it has said so.
TEST_F(RequestsTest, AHandleInUseTwiceMeansTheOlderRequest)
{
    requests_.set_threads(true);
    const std::uint64_t older = post(42, &variable_[0]);
    const std::uint64_t newer = post(42, &variable_[1]);
    EXPECT_EQ(complete(42, &variable_[0]), older);
    EXPECT_EQ(complete(42, &variable_[1]), newer);
}

// As above, but the thread that waits for the newer one is the first to say so.
TEST_F(RequestsTest, AHandleInUseTwiceIsToldApartByLocation)
{
    requests_.set_threads(true);
    const std::uint64_t older = post(42, &variable_[0]);
    const std::uint64_t newer = post(42, &variable_[1]);
    EXPECT_EQ(complete(42, &variable_[1]), newer);
    EXPECT_EQ(complete(42, &variable_[0]), older);
    EXPECT_EQ(requests_.size(), 0U);
}

// Somebody else has completed the older one: it must neither stay for ever nor be taken for the newer one.
TEST_F(RequestsTest, APostEndsWhatHadItsHandle)
{
    post(42, &variable_[0]);
    const std::uint64_t second = post(42, &variable_[1]);
    EXPECT_EQ(requests_.size(), 1U);
    EXPECT_EQ(complete(42, &variable_[0]), second);
}

TEST_F(RequestsTest, APostEndsWhatHadItsHandleAndVariableEvenIfThereAreThreads)
{
    requests_.set_threads(true);
    post(42, &variable_[0]);
    const std::uint64_t second = post(42, &variable_[0]);
    EXPECT_EQ(requests_.size(), 1U);
    EXPECT_EQ(complete(42, &variable_[7]), second);
}

// Which handle is shared is not known: any may be.
TEST_F(RequestsTest, WhereNothingIsKnownOfSharedHandlesNothingEnds)
{
    requests_.set_shared_handle(0);
    const std::uint64_t first = post(42, &variable_[0]);
    const std::uint64_t second = post(42, &variable_[0]);
    EXPECT_EQ(complete(42, &variable_[7]), first);
    EXPECT_EQ(complete(42, &variable_[7]), second);
}

TEST_F(RequestsTest, SharedHandlesAreToldApartByLocation)
{
    const std::uint64_t first = post(shared, &variable_[0]);
    const std::uint64_t second = post(shared, &variable_[1]);
    const std::uint64_t third = post(shared, &variable_[2]);
    EXPECT_EQ(complete(shared, &variable_[2]), third);
    EXPECT_EQ(complete(shared, &variable_[0]), first);
    EXPECT_EQ(complete(shared, &variable_[1]), second);
    EXPECT_EQ(requests_.size(), 0U);
}

TEST_F(RequestsTest, CopiedSharedHandlesCompleteInTheOrderOfTheirPosts)
{
    const std::uint64_t first = post(shared, &variable_[0]);
    const std::uint64_t second = post(shared, &variable_[0]);
    const std::uint64_t third = post(shared, &variable_[0]);
    EXPECT_EQ(complete(shared, &variable_[3]), first);
    EXPECT_EQ(complete(shared, &variable_[4]), second);
    EXPECT_EQ(complete(shared, &variable_[5]), third);
    EXPECT_EQ(complete(shared, &variable_[6]), 0U);
}

TEST_F(RequestsTest, AgreesWithAPlainMapOverManyRandomSteps)
{
    std::mt19937 random(20260101);
    std::map<std::uint64_t, std::deque<std::uint64_t>> expected;
    std::vector<char> places(200000);
    std::size_t place = 0;
    requests_.set_threads(true);
    for (int step = 0; step < 200000; ++step) {
        // Grows, then shrinks, so that the table is rebuilt while it is full of removed entries.
        const bool grows = random() % 100 < (step < 100000 ? 60U : 40U);
        const std::uint64_t handle = 0x7f0000000000U + 64 * (random() % 20000);
        if (grows) {
            expected[handle].push_back(post(handle, &places[place++]));  // each in a variable of its own
        } else {
            std::deque<std::uint64_t>& queue = expected[handle];
            const std::uint64_t id = queue.empty() ? 0 : queue.front();
            if (!queue.empty()) {
                queue.pop_front();
            }
            ASSERT_EQ(complete(handle, &variable_[1]), id);
        }
    }
    std::size_t left = 0;
    for (const auto& [handle, queue] : expected) {
        left += queue.size();
    }
    EXPECT_EQ(requests_.size(), left);
}

TEST_F(RequestsTest, ManySharedHandlesInAnyOrder)
{
    constexpr int count = 20000;
    std::vector<char> locations(count);
    std::vector<std::uint64_t> ids;
    ids.reserve(count);
    for (int i = 0; i < count; ++i) {
        ids.push_back(post(shared, &locations[static_cast<std::size_t>(i)]));
    }
    for (std::size_t i = count; i-- > 0;) {
        ASSERT_EQ(complete(shared, &locations[i]), ids[i]);
    }
    EXPECT_EQ(requests_.size(), 0U);
}

}  // namespace
}  // namespace critpath::preload
