// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The walk along the path by a token: where it stands, whoever holds the location walks on, until the path leads to a
// location of another process. There is one token, so all others wait for it, or for the word that the walk has ended.
// (Seed, section 4, step 3)
#include "replayer/restore/restore.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace critpath::replayer
{

namespace
{

constexpr int token_tag = 0x4352;  // not one of exchange.cpp

struct Token {
    Position position;
    std::int64_t ended_by;  // process that came to the first moment of the run; -1: nobody yet
};

void send(const Replay& replay, const Token& token, int to)
{
    MPI_Send(&token, sizeof token, MPI_BYTE, to, token_tag, replay.comm);
}

Token wait_for_token(const Replay& replay)
{
    Token token{};
    MPI_Recv(&token, sizeof token, MPI_BYTE, MPI_ANY_SOURCE, token_tag, replay.comm, MPI_STATUS_IGNORE);
    return token;
}

/// Along a binomial tree whose root is the process that ended the walk.
void pass_on_the_end(const Replay& replay, const Token& token)
{
    const int root = static_cast<int>(token.ended_by);
    const int place = (replay.rank - root + replay.size) % replay.size;
    for (int step = 1; step < replay.size - place; step *= 2)
        if (step > place)
            send(replay, token, (replay.rank + step) % replay.size);
}

/// Where the walk ended; its pieces are with the walkers.
Position walk_together(const Replay& replay, Walker& walker, Position position)
{
    const auto owner = [&] { return replay.owner_of(model::LocationId{position.location}); };
    Token token{position, -1};
    bool is_here = owner() == replay.rank;
    for (;;) {
        if (!is_here)
            token = wait_for_token(replay);
        is_here = false;
        if (token.ended_by < 0) {
            position = token.position;
            bool goes_on = true;
            while (goes_on && owner() == replay.rank)
                goes_on = walker.step(position);
            token = {position, goes_on ? -1 : replay.rank};
        }
        if (token.ended_by >= 0) {
            pass_on_the_end(replay, token);
            return token.position;
        }
        send(replay, token, owner());
    }
}

}  // namespace

Pieces pass_token(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    const auto spans = own_spans(replay);
    const auto jumps = own_jumps(replay, predecessors);
    const Ends ends = agree_on_ends(replay, find_ends(spans));
    if (!ends.last.valid())
        return {};
    Walker walker(spans, jumps);
    const Position end = walk_together(replay, walker, start_of_walk(ends));
    const bool counts = replay.rank == 0;  // all know what the token has counted
    add_up(replay, ends, counts ? end.hops : 0, counts ? end.clock_violations : 0, path);
    return Pieces(walker.pieces);
}

}  // namespace critpath::replayer
