// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the identity of communicators, windows and files: 128 bits that every member computes alike, without
// communication, from what all of them know (docs/ALGORITHM, "Communicator identity").
#pragma once

#include <cstdint>

namespace critpath::preload
{

struct Gid {
    std::uint64_t word[2] = {0, 0};
    friend bool operator==(const Gid&, const Gid&) = default;
};

/// Hash of a sequence of numbers; two independent multiply-and-mix lanes.
class GidHash
{
public:
    GidHash& operator<<(std::uint64_t number)
    {
        first_ = mix(first_ ^ number, 0x9e3779b97f4a7c15U);
        second_ = mix(second_ + number, 0xc2b2ae3d27d4eb4fU);
        return *this;
    }
    GidHash& operator<<(const Gid& gid) { return *this << gid.word[0] << gid.word[1]; }

    [[nodiscard]] Gid result() const
    {
        return {{mix(first_, 0xff51afd7ed558ccdU), mix(second_ ^ first_, 0xc4ceb9fe1a85ec53U)}};
    }

private:
    static std::uint64_t mix(std::uint64_t x, std::uint64_t factor)
    {
        x = (x ^ (x >> 32)) * factor;
        x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9U;
        return x ^ (x >> 32);
    }

    std::uint64_t first_ = 0x243f6a8885a308d3U;
    std::uint64_t second_ = 0x13198a2e03707344U;
};

/// Of a group: its world ranks in rank order.
inline Gid hash_group(const int* world_ranks, int size)
{
    GidHash hash;
    hash << static_cast<std::uint64_t>(size);
    for (int i = 0; i < size; ++i) {
        hash << static_cast<std::uint64_t>(world_ranks[i]);
    }
    return hash.result();
}

/// Of the two groups of an inter-communicator: the same from both sides.
inline Gid hash_groups(const Gid& one, const Gid& other)
{
    const bool swap = one.word[0] != other.word[0] ? one.word[0] > other.word[0] : one.word[1] > other.word[1];
    GidHash hash;
    hash << (swap ? other : one) << (swap ? one : other);
    return hash.result();
}

/// What chose the identity, so that equal numbers of different origin cannot meet.
enum class GidKind : std::uint64_t { World = 1, Self, Child, Group, Inter, Window, File, Meeting };

inline Gid world_gid()
{
    return (GidHash() << static_cast<std::uint64_t>(GidKind::World)).result();
}

inline Gid self_gid(int world_rank)
{
    return (GidHash() << static_cast<std::uint64_t>(GidKind::Self) << static_cast<std::uint64_t>(world_rank)).result();
}

/// Of the `sequence`-th communicator made collectively from `parent`.
inline Gid child_gid(const Gid& parent, std::uint64_t sequence, const Gid& members)
{
    return (GidHash() << static_cast<std::uint64_t>(GidKind::Child) << parent << sequence << members).result();
}

/// Of a communicator whose making the parent does not number: the `sequence`-th of its `key` (see group_key).
inline Gid keyed_gid(const Gid& key, std::uint64_t sequence)
{
    return (GidHash() << key << sequence).result();
}

/// Of the `sequence`-th window or file made on a communicator.
inline Gid object_gid(GidKind kind, const Gid& comm, std::uint64_t sequence)
{
    return (GidHash() << static_cast<std::uint64_t>(kind) << comm << sequence).result();
}

/// `parent` is zero where the sides have different ones (MPI_Intercomm_create, MPI_Comm_accept).
inline Gid group_key(GidKind kind, const Gid& parent, const Gid& members, int tag)
{
    return (GidHash() << static_cast<std::uint64_t>(kind) << parent << members << static_cast<std::uint64_t>(tag))
        .result();
}

}  // namespace critpath::preload
