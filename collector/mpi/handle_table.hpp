// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the map from MPI handles to what is known about them. Several entries may have one key (an MPI library may
// give one handle to many finished requests); they are found oldest first. Memory is mapped, in doubling steps, at
// insertion only; a removed entry leaves nothing behind. Not thread-safe.
#pragma once

#include <cstdint>
#include <cstring>

#include <sys/mman.h>

namespace critpath::preload
{

inline void* map_memory(std::size_t bytes)
{
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

/// Value is trivially copyable. Entries are named by an index that stays valid until the entry is erased.
template <class Value>
class HandleTable
{
public:
    static constexpr std::uint32_t none = 0xffffffff;

    /// Returns none if there is no memory.
    std::uint32_t insert(std::uint64_t key, const Value& value)
    {
        if (free_ == none && !grow()) {
            return none;
        }
        const std::uint32_t index = free_;
        Node& node = nodes_[index];
        free_ = node.next;
        node = {key, none, value};
        append(index);
        ++size_;
        return index;
    }

    /// The oldest entry with this key, or none.
    [[nodiscard]] std::uint32_t find(std::uint64_t key) const
    {
        if (size_ == 0) {
            return none;
        }
        std::uint32_t index = buckets_[bucket(key)].first;
        while (index != none && nodes_[index].key != key) {
            index = nodes_[index].next;
        }
        return index;
    }

    /// The next younger entry with the key of this one, or none.
    [[nodiscard]] std::uint32_t find_next(std::uint32_t index) const
    {
        const std::uint64_t key = nodes_[index].key;
        do {
            index = nodes_[index].next;
        } while (index != none && nodes_[index].key != key);
        return index;
    }

    Value& at(std::uint32_t index) { return nodes_[index].value; }
    [[nodiscard]] const Value& at(std::uint32_t index) const { return nodes_[index].value; }

    void erase(std::uint32_t index)
    {
        Bucket& chain = buckets_[bucket(nodes_[index].key)];
        std::uint32_t previous = none;
        for (std::uint32_t i = chain.first; i != index; i = nodes_[i].next) {
            previous = i;
        }
        (previous == none ? chain.first : nodes_[previous].next) = nodes_[index].next;
        if (chain.last == index) {
            chain.last = previous;
        }
        nodes_[index].next = free_;
        free_ = index;
        --size_;
    }

    /// For keys that one entry has at a time: an older one is over, although nobody has said so.
    std::uint32_t replace(std::uint64_t key, const Value& value)
    {
        for (std::uint32_t old = find(key); old != none; old = find(key)) {
            erase(old);
        }
        return insert(key, value);
    }

    [[nodiscard]] std::uint32_t size() const { return size_; }

private:
    struct Node {
        std::uint64_t key;
        std::uint32_t next;
        Value value;
    };
    struct Bucket {
        std::uint32_t first, last;
    };
    static constexpr std::uint32_t initial_capacity = 256;

    [[nodiscard]] std::uint32_t bucket(std::uint64_t key) const
    {
        return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15U) >> shift_);
    }

    void append(std::uint32_t index)
    {
        Bucket& chain = buckets_[bucket(nodes_[index].key)];
        (chain.first == none ? chain.first : nodes_[chain.last].next) = index;
        chain.last = index;
    }

    // Doubles the entries; there are twice as many buckets as entries.
    bool grow()
    {
        const std::size_t capacity = capacity_ == 0 ? initial_capacity : std::size_t{2} * capacity_;
        auto* nodes = static_cast<Node*>(map_memory(capacity * sizeof(Node)));
        auto* buckets = static_cast<Bucket*>(map_memory(2 * capacity * sizeof(Bucket)));
        if (nodes == nullptr || buckets == nullptr) {
            unmap(nodes, capacity * sizeof(Node));
            unmap(buckets, 2 * capacity * sizeof(Bucket));
            return false;
        }
        Bucket* const old_buckets = buckets_;
        const std::size_t old_capacity = capacity_;
        if (nodes_ != nullptr) {
            std::memcpy(static_cast<void*>(nodes), nodes_, old_capacity * sizeof(Node));
            unmap(nodes_, old_capacity * sizeof(Node));
        }
        nodes_ = nodes;
        buckets_ = buckets;
        capacity_ = static_cast<std::uint32_t>(capacity);
        std::memset(static_cast<void*>(buckets_), 0xff, 2 * capacity * sizeof(Bucket));
        shift_ = 63 - static_cast<unsigned>(__builtin_ctzl(capacity));
        for (std::size_t b = 0; old_buckets != nullptr && b < 2 * old_capacity; ++b) {
            rehash(old_buckets[b]);
        }
        unmap(old_buckets, 2 * old_capacity * sizeof(Bucket));
        for (std::uint32_t i = capacity_; i-- > old_capacity;) {
            nodes_[i].next = free_;
            free_ = i;
        }
        return true;
    }

    // Chain by chain, so that entries with one key keep their order.
    void rehash(const Bucket& chain)
    {
        for (std::uint32_t i = chain.first; i != none;) {
            const std::uint32_t next = nodes_[i].next;
            nodes_[i].next = none;
            append(i);
            i = next;
        }
    }

    static void unmap(void* memory, std::size_t bytes)
    {
        if (memory != nullptr) {
            munmap(memory, bytes);
        }
    }

    Node* nodes_ = nullptr;
    Bucket* buckets_ = nullptr;
    std::uint32_t capacity_ = 0;
    std::uint32_t size_ = 0;
    std::uint32_t free_ = none;
    unsigned shift_ = 0;
};

}  // namespace critpath::preload
