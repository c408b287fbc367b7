// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what this process' samples and call paths mean: addresses become functions, call chains become a tree of
// functions. Ids are local to the process; archive/unify turns them into the trace's.
#pragma once

#include "collector/archive/address_map.hpp"
#include "collector/archive/call_chain.hpp"
#include "collector/archive/hash.hpp"
#include "collector/archive/runtime_code.hpp"
#include "collector/archive/symbols.hpp"
#include "formats/functions/functions.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace critpath::archive
{

struct Function {
    Hash128 key;
    std::string canonical_name;
    std::string module;  // path; empty for "[unknown]"
    std::string build_id;
    std::string mark;                                         // behind the name (FunctionSymbols::mark_of)
    functions::FunctionId mpi = functions::FunctionId::none;  // if it is one; then nothing else is known
};

/// Key of an MPI function.
Hash128 function_key(functions::FunctionId function);

struct Context {
    Hash128 key;  // of the whole path, and its sites
    std::uint32_t function = 0;
    std::uint32_t parent = no_parent;
    std::uint32_t depth = 0;
    std::uint64_t site = 0;  // where `parent` makes the call, an address in its binary; 0: not known

    static constexpr std::uint32_t no_parent = 0xffffffff;
};

struct Leaf {
    std::uint32_t context = 0;
    std::uint64_t offset = 0;  // of the sampled instruction in its binary; 0 if unknown
    bool is_cut = false;       // it begins with otf2::unknown_callers_region
};

class ContextTree
{
public:
    explicit ContextTree(AddressMap map, RuntimeCode runtime_code = {});

    /// What stands behind the first address outside of all binaries is left out. A chain that is cut off begins with
    /// otf2::unknown_callers_region. `kernel`: where in the kernel the thread was that has called it
    /// there, a frame more if that is known; 0: it was not in the kernel, or the time is to count for the caller.
    /// `time`: when that was, if libraries were unloaded meanwhile.
    Leaf add(const CallChain& chain, std::uint64_t kernel = 0, std::uint64_t time = AddressMap::the_end);

    /// `path`: return addresses, innermost first. Returns the function that the first one lies in, and where there.
    Leaf add_path(std::vector<std::uint64_t> path, std::uint64_t time = AddressMap::the_end);

    /// The context of an MPI function that was called at `caller`, whose context is Context::no_parent if that is not
    /// known.
    std::uint32_t add_call(const Leaf& caller, functions::FunctionId function);

    /// In this epoch of the map.
    bool are_in_one_function(std::uint64_t a, std::uint64_t b, std::uint32_t epoch);

    [[nodiscard]] const AddressMap& map() const { return map_; }
    /// Of files that were replaced since they were loaded, those whose functions have no names because of that. Only
    /// what was asked for counts.
    [[nodiscard]] const std::vector<std::string>& unreadable() const { return unreadable_; }
    [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
    [[nodiscard]] const std::vector<Context>& contexts() const { return contexts_; }  // parents come first

private:
    static constexpr std::uint32_t outside = 0xffffffff;
    struct Place {
        std::uint32_t function = outside;
        std::uint64_t offset = 0;
    };

    Place locate(std::uint64_t address, std::uint32_t epoch);
    SymbolTable& symbols(const MappedRange& range);
    Place in_file(const MappedRange& range, std::uint64_t address);
    Place in_vdso(const MappedRange& range, std::uint64_t address);
    /// Whether it is told where this function makes its calls.
    [[nodiscard]] bool has_sites(std::uint32_t function) const;
    void note_start(std::span<const Place> frames, const std::string& libc);
    [[nodiscard]] bool begins_thread(std::uint32_t outermost) const;
    Place in_memory(const MappedRange* range, std::uint64_t address);
    std::uint32_t function(const std::string& name, const std::string& module, const std::string& build_id,
                           const std::string& mark = {});
    std::uint32_t child(std::uint32_t parent, std::uint32_t function, std::uint64_t site = 0);

    AddressMap map_;
    RuntimeCode runtime_code_;
    std::vector<std::unique_ptr<SymbolTable>> symbols_;             // by module, read when first needed
    std::vector<std::string> unreadable_;                           // paths of modules, that were replaced
    std::vector<std::unordered_map<std::uint64_t, Place>> places_;  // by epoch and address
    std::vector<Function> functions_;
    std::unordered_map<Hash128, std::uint32_t, HashOfHash> function_ids_;
    std::vector<Context> contexts_;
    std::unordered_map<Hash128, std::uint32_t, HashOfHash> context_ids_;
    std::unordered_map<Hash128, Leaf, HashOfHash> chains_;
    std::unordered_set<std::uint32_t> starters_;  // functions that were seen to be what calls `main`, or `main`
};

}  // namespace critpath::archive
