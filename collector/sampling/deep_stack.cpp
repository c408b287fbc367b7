// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/deep_stack.hpp"

#include "collector/sampling/packer.hpp"
#include "collector/sampling/state.hpp"
#include "collector/sampling/user_stack.hpp"
#include "formats/support/mixed.hpp"

#include <elf.h>

#include <cstring>

#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

namespace critpath::sampling
{
namespace
{

constexpr std::uint64_t bytes_a_word = sizeof(std::uint64_t);
constexpr std::uint64_t least_interval = 25 * ns_per_ms;
constexpr std::uint64_t part_for_looks = 500;                  // of a processor's time: one such part,
constexpr std::uint64_t for_first_looks = 10 * ns_per_ms;      // and so much at first, since short runs need them, too
constexpr std::uint64_t ns_a_byte = ns_per_second / 32768;     // of changes, which fill the disk,
constexpr std::uint64_t first_bytes = std::uint64_t{1} << 20;  // behind so many
constexpr std::uint64_t window = ns_per_second;                // copies that were cut longer ago do not count
constexpr std::uint64_t deepest = std::uint64_t{16} << 20;     // bytes; to read more would take too long
constexpr unsigned block_bits = 32;

std::uint64_t own_processor_time()
{
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * ns_per_second + static_cast<std::uint64_t>(time.tv_nsec);
}

void add_block(DeepLooks& looks, std::uint64_t address)
{
    const auto block = static_cast<std::uint32_t>(address >> block_bits);
    for (std::uint32_t i = 0; i < looks.blocks; ++i) {
        if (looks.block[i] == block) {
            return;
        }
    }
    if (block != 0 && looks.blocks < DeepLooks::most_blocks) {  // in the first one all small numbers lie
        looks.block[looks.blocks++] = block;
    }
}

/// The code of the program, from its headers in memory: to ask the loader would take its locks.
void find_program(DeepLooks& looks)
{
    const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));  // NOLINT(performance-no-int-to-ptr)
    const std::uint64_t count = headers == nullptr ? 0 : getauxval(AT_PHNUM);
    std::uint64_t bias = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (headers[i].p_type == PT_PHDR) {
            bias = reinterpret_cast<std::uint64_t>(headers) - headers[i].p_vaddr;
        }
    }
    for (std::uint64_t i = 0; i < count; ++i) {
        if (headers[i].p_type == PT_LOAD && (headers[i].p_flags & PF_X) != 0) {
            const std::uint64_t begin = bias + headers[i].p_vaddr;
            const std::uint64_t end = begin + headers[i].p_memsz;
            looks.code_begin = looks.code_end == 0 || begin < looks.code_begin ? begin : looks.code_begin;
            looks.code_end = end > looks.code_end ? end : looks.code_end;
        }
    }
}

bool is_in_program(const DeepLooks& looks, std::uint64_t address)
{
    return address >= looks.code_begin && address < looks.code_end;
}

/// Libraries lie close to each other: where this one is, and the loader, and where samples were.
void find_code(DeepLooks& looks)
{
    find_program(looks);
    add_block(looks, reinterpret_cast<std::uint64_t>(&find_code));
    add_block(looks, getauxval(AT_BASE));
}

bool may_be_code(const DeepLooks& looks, std::uint64_t word)
{
    if (is_in_program(looks, word)) {
        return true;
    }
    const std::uint64_t block = word >> block_bits;
    bool found = false;
    for (std::uint32_t i = 0; i < looks.blocks; ++i) {
        found = found || looks.block[i] == block;
    }
    return found;
}

bool is_needed(const DeepLooks& looks, std::uint64_t address, std::uint64_t word, std::uint64_t top)
{
    const bool points_outwards = word > address && word < top && word % bytes_a_word == 0;
    return points_outwards || may_be_code(looks, word);
}

std::uint64_t reach(const DeepStack& deep)
{
    const std::uint64_t one = deep.lowest[0];
    const std::uint64_t other = deep.lowest[1];
    return one == 0 || (other != 0 && other < one) ? other : one;
}

/// Notes how far the copies reach that were cut since the last time.
void note_cut_copies(State& state, Slot& slot, std::uint64_t time)
{
    DeepStack& deep = slot.deep;
    if (time > deep.window + window) {
        const bool is_next = time < deep.window + 2 * window;
        deep.lowest[1] = is_next ? deep.lowest[0] : 0;
        deep.lowest[0] = 0;
        deep.window = time;
    }
    const std::size_t bytes = unread_bytes(slot.event);
    if (bytes == 0) {
        return;
    }
    const Unread unread = peek_records(slot.event);
    const std::uint64_t tail = unread.head - (unread.size[0] + unread.size[1]);
    const std::size_t skipped = deep.seen > tail ? deep.seen - tail : 0;
    deep.seen = unread.head;
    CopyOfStack lowest{};
    if (find_cut_copies(state.choice, unread, skipped, deep.bottom, deep.top, lowest) == 0) {
        return;
    }
    deep.lowest[0] = deep.lowest[0] == 0 || lowest.end < deep.lowest[0] ? lowest.end : deep.lowest[0];
    if (state.deep.code_end == 0) {
        find_code(state.deep);
    }
    // The code that the kernel lends to each process is close to the first stack.
    const bool is_apart = lowest.instruction >> block_bits != deep.top >> block_bits;
    if (is_apart && lowest.instruction >> 63 == 0 && !is_in_program(state.deep, lowest.instruction)) {
        add_block(state.deep, lowest.instruction);
    }
}

/// From the outermost word inwards; how many are needed.
std::uint32_t read_image(DeepLooks& looks, std::uint64_t begin, std::uint64_t top)
{
    std::uint32_t count = 0;
    for (std::uint64_t end = top; end > begin && count < DeepLooks::most_words;) {
        const std::uint64_t most = DeepLooks::piece_words * bytes_a_word;
        const std::uint64_t from = end - begin < most ? begin : end - most;
        if (copy_stack(from, looks.piece, end - from) != end - from) {
            break;
        }
        for (std::size_t i = (end - from) / bytes_a_word; i-- > 0 && count < DeepLooks::most_words;) {
            const std::uint64_t address = from + i * bytes_a_word;
            if (is_needed(looks, address, looks.piece[i], top)) {
                looks.image[count++] = {address, looks.piece[i]};
            }
        }
        end = from;
    }
    return count;
}

/// What differs between the two images, and how much that is; at most as much as there is room for.
std::uint32_t find_changes(const spool::DeepWord* old, std::uint32_t old_count, DeepLooks& looks, std::uint32_t count)
{
    std::uint32_t changes = 0;
    std::uint32_t i = 0;
    std::uint32_t j = 0;
    while (i < old_count || j < count) {
        if (changes == DeepLooks::most_words) {
            return DeepLooks::most_words + 1;
        }
        const std::uint64_t gone = i < old_count ? old[i].address : 0;
        const std::uint64_t here = j < count ? looks.image[j].address : 0;
        if (gone > here) {
            looks.changes[changes++] = {gone, 0};
            ++i;
        } else {
            const bool is_same = gone == here && old[i].word == looks.image[j].word;
            if (!is_same) {
                looks.changes[changes++] = looks.image[j];
            }
            i += gone == here ? 1 : 0;
            ++j;
        }
    }
    return changes;
}

spool::DeepWord* map_image()
{
    void* memory = mmap(nullptr, DeepLooks::most_words * sizeof(spool::DeepWord), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<spool::DeepWord*>(memory);
}

/// In as many records as it takes. False if one of them had no room.
bool write_changes(State& state, Slot& slot, std::uint32_t changes, bool is_whole, std::uint64_t since,
                   std::uint64_t until)
{
    constexpr std::uint32_t most = (65528 - sizeof(spool::DeepStackRecord)) / sizeof(spool::DeepWord);
    char* const out = reinterpret_cast<char*>(state.deep.piece);
    static_assert(sizeof state.deep.piece >= sizeof(spool::DeepStackRecord) + most * sizeof(spool::DeepWord));
    std::uint32_t written = 0;
    std::uint64_t records = slot.file.records;
    do {
        const std::uint32_t words = changes - written < most ? changes - written : most;
        const std::size_t bytes = words * sizeof(spool::DeepWord);
        unsigned part = written == 0 && is_whole ? spool::DeepStackRecord::Whole : 0;
        part |= written + words < changes ? spool::DeepStackRecord::More : 0;
        const spool::DeepStackRecord record{spool::DeepStackRecord::number, static_cast<std::uint16_t>(part),
                                            static_cast<std::uint16_t>(sizeof record + bytes),
                                            since - state.time_offset, until - state.time_offset};
        std::memcpy(out, &record, sizeof record);
        std::memcpy(out + sizeof record, state.deep.changes + written, bytes);
        append_record(slot.file, state.choice, out, sizeof record + bytes);
        written += words;
        ++records;
    } while (written < changes);
    return slot.file.records == records;
}

/// Returns how many bytes of changes it has written, but for those of a first image.
std::uint64_t look(State& state, Slot& slot)
{
    DeepLooks& looks = state.deep;
    DeepStack& deep = slot.deep;
    if (deep.last_image == nullptr) {
        deep.last_image = map_image();
        deep.count = 0;
    }
    if (deep.last_image == nullptr) {
        return 0;
    }
    const std::uint64_t since = now(state);
    const std::uint32_t count = read_image(looks, reach(deep), deep.top);
    const std::uint64_t until = now(state);
    bool is_whole = deep.count == 0;
    std::uint32_t changes = find_changes(deep.last_image, deep.count, looks, count);
    if (changes > DeepLooks::most_words) {
        is_whole = true;
        changes = find_changes(nullptr, 0, looks, count);
    }
    const bool is_written = write_changes(state, slot, changes, is_whole, since, until);
    std::memcpy(deep.last_image, looks.image, count * sizeof looks.image[0]);
    deep.count = is_written ? count : 0;  // else the next one is whole
    return is_whole ? 0 : changes * sizeof looks.changes[0];
}

bool is_recorded(const Slot& slot)
{
    return slot.deep.top != 0 && slot.state.load(std::memory_order_acquire) == SlotState::Active &&
           slot.event.control != nullptr;
}

}  // namespace

void begin_deep_stack(const State& state, Slot& slot)
{
    slot.deep = {};
    if (state.choice.call_graph != spool::CallGraph::Dwarf || !slot.event.is_open()) {
        return;
    }
    const StackBounds stack = own_stack();
    // On the first stack, strings stand above these bytes, which may be many; they are no frames.
    const std::uint64_t strings = getauxval(AT_RANDOM) & ~(bytes_a_word - 1);
    const bool has_strings = strings > stack.low && strings < stack.high;
    slot.deep.top = has_strings ? strings : stack.high;
    const std::uint64_t most = slot.deep.top - stack.low;
    slot.deep.bottom = slot.deep.top - (most < deepest ? most : deepest);
}

void end_deep_stack(Slot& slot)
{
    spool::DeepWord* const image = slot.deep.last_image;
    slot.deep = {};  // before, so that the child of a fork() in between does not give back what comes there later
    if (image != nullptr) {
        munmap(image, DeepLooks::most_words * sizeof *image);
    }
}

void look_at_deep_stacks(State& state)
{
    const std::uint64_t time = now(state);
    DeepLooks& looks = state.deep;
    if (state.choice.call_graph != spool::CallGraph::Dwarf || time < looks.next) {
        return;
    }
    const std::uint64_t begin = own_processor_time();
    std::uint64_t bytes = 0;
    pthread_mutex_lock(&state.pass_lock);
    looks.is_needed = false;
    const std::uint32_t used = state.paused ? 0 : state.used.load(std::memory_order_acquire);
    std::uint32_t looked_at = used;
    for (std::uint32_t i = 0; i < used; ++i) {
        const std::uint32_t number = (looks.next_slot + i) % used;
        Slot& slot = state.slots[number];
        if (!is_recorded(slot)) {
            continue;
        }
        note_cut_copies(state, slot, time);
        if (reach(slot.deep) == 0) {
            slot.deep.count = 0;  // the next image has a new beginning
            continue;
        }
        looks.is_needed = true;
        if (looked_at == used) {
            looked_at = number;
            bytes = look(state, slot);
        }
    }
    looks.next_slot = looked_at == used ? 0 : looked_at + 1;
    pthread_mutex_unlock(&state.pass_lock);
    const std::uint64_t took = own_processor_time() - begin;
    looks.taken += took;
    const std::uint64_t of_time = looks.taken > for_first_looks ? took * part_for_looks : 0;
    looks.written += bytes;
    const std::uint64_t of_bytes = looks.written > first_bytes ? bytes * ns_a_byte : 0;
    std::uint64_t interval = of_time > of_bytes ? of_time : of_bytes;
    interval = interval > least_interval ? interval : least_interval;
    // On average: what repeats itself must not fall in step.
    looks.next = time + interval / 2 + mixed(time) % interval;
}

}  // namespace critpath::sampling
