// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The walk by binary lifting: of each jump that leaves its process, it is found out where the path would leave the next
// process, and from there the next 2, 4, 8 ... Then the jumps of the path are marked, twice as many a round. Chains
// within a process are one step, and are walked only where they are on the path.
#include "replayer/exchange.hpp"
#include "replayer/restore/tiers.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

/// A jump from one process to another: the number of it among those of the process that it leaves, looking backwards.
struct Exit {
    static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t process = nobody;  // of the replay; nobody: the path comes to the first moment of the run before
    std::uint32_t number = 0;

    [[nodiscard]] bool is_end() const { return process == nobody; }
};

/// The jumps of a process, and where they lead within it.
class Chains
{
public:
    Chains(const Replay& replay, const JumpsByLocation& jumps, const std::vector<LocationSpan>& spans)
        : replay_(replay), jumps_(jumps), spans_(spans), walker_(spans, jumps, Walker::Returns::Never)
    {
        for (std::uint32_t location = 0; location < jumps.size(); ++location) {
            const JumpList& here = jumps[location];
            first_.push_back(exit_of_.size());
            for (std::size_t i = 0; i < here.size(); ++i) {
                const bool leaves = owner(here[i]) != replay.rank;
                exit_of_.push_back(
                    leaves ? Exit{static_cast<std::uint32_t>(replay.rank), static_cast<std::uint32_t>(exits_.size())}
                           : Exit{});
                is_known_.push_back(leaves);
                if (leaves)
                    exits_.push_back({location, static_cast<std::uint32_t>(i)});
            }
        }
    }

    /// How many jumps lead to other processes.
    [[nodiscard]] std::size_t exits() const { return exits_.size(); }
    /// One of them.
    [[nodiscard]] Jump exit(std::size_t number) const { return jumps_[exits_[number].location][exits_[number].jump]; }
    [[nodiscard]] int owner(const Jump& jump) const { return replay_.owner_of(jump.to.location); }

    /// Where a path that comes to this position leaves the process.
    Exit exit_from(Position position)
    {
        chain_.clear();
        Exit exit;
        while (const auto place = next(position)) {
            const std::size_t index = first_[place->location] + place->jump;
            if (is_known_[index]) {
                exit = exit_of_[index];
                break;
            }
            chain_.push_back(index);
            position = target(jumps_[place->location][place->jump], position.begin);
        }
        for (const std::size_t i : chain_) {
            exit_of_[i] = exit;
            is_known_[i] = true;
        }
        return exit;
    }

    /// Where a walk stands behind a jump.
    static Position target(const Jump& jump, std::int64_t begin)
    {
        return {jump.to.location.value, jump.to.call.value, std::max(jump.to_enter.count(), begin), begin};
    }

private:
    struct Place {
        std::uint32_t location, jump;  // its number on the location
    };

    /// The jump that is next on the path, here or on the main location of the process, if the path comes to that.
    [[nodiscard]] std::optional<Place> next(Position position) const
    {
        const LocationSpan& span = spans_[position.location];
        auto jump = walker_.previous_jump(position);
        if (!jump && span.main.value != position.location) {
            const std::int64_t time =
                std::clamp(span.begin.count(), position.begin, std::max(position.begin, position.time));
            position = {span.main.value, Piece::by_time, time, position.begin};
            jump = walker_.previous_jump(position);
        }
        return jump ? std::optional(Place{position.location, static_cast<std::uint32_t>(*jump)}) : std::nullopt;
    }

    const Replay& replay_;
    const JumpsByLocation& jumps_;
    const std::vector<LocationSpan>& spans_;
    Walker walker_;
    std::vector<std::size_t> first_;  // by location
    std::vector<Exit> exit_of_;       // by index
    std::vector<bool> is_known_;      // by index
    std::vector<Place> exits_;        // by number
    std::vector<std::size_t> chain_;
};

class Lifting
{
public:
    Lifting(const Replay& replay, const JumpsByLocation& jumps, const Ends& ends)
        : replay_(replay), spans_(own_spans(replay)), ends_(ends), begin_(ends.begin.count()),
          chains_(replay, jumps, spans_), walker_(spans_, jumps, Walker::Returns::Never)
    {
    }

    /// Collective.
    void run()
    {
        find_next();
        while (on_any(replay_.comm, !std::ranges::all_of(levels_.back(), &Exit::is_end)))
            levels_.push_back(doubled(levels_.back()));
        mark();
        walk_marked();
    }

    [[nodiscard]] std::uint64_t hops() const { return hops_; }
    std::vector<Piece> take_pieces() { return std::move(walker_.pieces); }

private:
    using Level = std::vector<Exit>;  // by number of the exits of this process

    /// Asks the owners of what the exits lead to. answer(item) is what one says of an item that it was asked about;
    /// question(number) is the process to ask, and the item.
    template <class Item, class Question, class Answer>
    Level ask_all(Question question, Answer answer) const
    {
        auto out = lists_for<Item>(replay_.size);
        auto asked = lists_for<std::uint32_t>(replay_.size);
        for (std::uint32_t i = 0; i < chains_.exits(); ++i)
            if (const auto [process, item] = question(i); process != Exit::nobody) {
                out[process].push_back(item);
                asked[process].push_back(i);
            }
        const auto received = replayer::exchange(replay_.comm, out);
        auto answers = lists_for<Exit>(replay_.size);
        for (int p = 0; p < replay_.size; ++p)
            for (const Item& item : received.from(p))
                answers[static_cast<std::size_t>(p)].push_back(answer(item));
        const auto answered = replayer::exchange(replay_.comm, answers);
        Level level(chains_.exits());
        for (int p = 0; p < replay_.size; ++p)
            for (std::size_t i = 0; i < asked[static_cast<std::size_t>(p)].size(); ++i)
                level[asked[static_cast<std::size_t>(p)][i]] = answered.from(p)[i];
        return level;
    }

    void find_next()
    {
        levels_.push_back(ask_all<Position>(
            [&](std::uint32_t i) {
                const Jump jump = chains_.exit(i);
                return std::pair(static_cast<std::uint32_t>(chains_.owner(jump)), Chains::target(jump, begin_));
            },
            [&](const Position& position) { return chains_.exit_from(position); }));
    }

    [[nodiscard]] Level doubled(const Level& level) const
    {
        return ask_all<std::uint32_t>([&](std::uint32_t i) { return std::pair(level[i].process, level[i].number); },
                                      [&](std::uint32_t number) { return level[number]; });
    }

    [[nodiscard]] bool holds_end() const { return replay_.owner_of(ends_.last) == replay_.rank; }

    /// The exits that are on the path.
    void mark()
    {
        marked_.assign(chains_.exits(), false);
        if (holds_end()) {
            const Exit first = chains_.exit_from(start_of_walk(ends_));
            if (!first.is_end())
                marked_[first.number] = true;
        }
        for (std::size_t i = levels_.size(); i-- > 0;) {
            auto out = lists_for<std::uint32_t>(replay_.size);
            for (std::size_t number = 0; number < marked_.size(); ++number)
                if (const Exit next = levels_[i][number]; marked_[number] && !next.is_end())
                    out[next.process].push_back(next.number);
            for (const std::uint32_t number : replayer::exchange(replay_.comm, out).items)
                marked_[number] = true;
        }
    }

    void walk_marked()
    {
        auto out = lists_for<Position>(replay_.size);
        for (std::size_t number = 0; number < marked_.size(); ++number)
            if (marked_[number]) {
                const Jump jump = chains_.exit(number);
                out[static_cast<std::size_t>(chains_.owner(jump))].push_back(Chains::target(jump, begin_));
            }
        if (holds_end())
            walk(start_of_walk(ends_));
        for (const Position& position : replayer::exchange(replay_.comm, out).items)
            walk(position);
    }

    /// As far as the locations are here.
    void walk(Position position)
    {
        bool goes_on = true;
        while (goes_on && replay_.owner_of(model::LocationId{position.location}) == replay_.rank)
            goes_on = walker_.step(position);
        hops_ += position.hops;
    }

    const Replay& replay_;
    std::vector<LocationSpan> spans_;
    const Ends& ends_;
    std::int64_t begin_;
    Chains chains_;
    Walker walker_;
    std::vector<Level> levels_;  // [i]: 2^i exits further
    std::vector<bool> marked_;   // by number
    std::uint64_t hops_ = 0;
};

}  // namespace

Pieces walk_by_lifting(const Replay& replay, const JumpsByLocation& jumps, const Ends& ends, Path& path)
{
    Lifting lifting(replay, jumps, ends);
    lifting.run();
    add_up(replay, ends, lifting.hops(), 0, path);
    return in_order_of_walk(lifting.take_pieces());
}

}  // namespace critpath::replayer
