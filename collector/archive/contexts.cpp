// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/contexts.hpp"

#include "collector/archive/module_file.hpp"
#include "formats/binary/module.hpp"
#include "formats/otf2/function_map.hpp"
#include "formats/spool/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace critpath::archive
{

namespace
{

constexpr const char* start_main = "__libc_start_main";  // a symbol that no libc is stripped of

// Of a binary whose addresses are not known, but as places in its file: nobody is to look for them in any file.
std::string unreadable_identity(const std::string& identity)
{
    return identity.empty() ? "" : fmt::format("-{:016x}", text_key(identity).low);
}

}  // namespace

Hash128 function_key(functions::FunctionId function)
{
    return Hasher().add("MPI").add(functions::info(function).name).result();
}

ContextTree::ContextTree(AddressMap map, RuntimeCode runtime_code)
    : map_(std::move(map)), runtime_code_(std::move(runtime_code)), symbols_(map_.modules().size()),
      places_(map_.last_epoch() + std::size_t{1})
{
}

Leaf ContextTree::add(const CallChain& chain, std::uint64_t kernel, std::uint64_t time)
{
    const std::uint32_t epoch = map_.epoch_at(time);
    // Programs come back to the same chains; looking all addresses up is left for new ones.
    Hasher hasher;
    for (const std::uint64_t address : chain.addresses) {
        hasher.add(address);
    }
    hasher.add(kernel).add(epoch).add(chain.is_whole ? 1 : 0);
    const auto [known, is_new] = chains_.try_emplace(hasher.result());
    if (!is_new) {
        return known->second;
    }
    Leaf leaf;
    std::vector<Place> frames;  // innermost first
    bool is_whole = chain.is_whole;
    for (std::size_t i = 0; i < chain.addresses.size(); ++i) {
        // A return address may be the first one behind a function that ends in a call.
        const Place place = locate(i == 0 ? chain.addresses[i] : chain.addresses[i] - 1, epoch);
        if (place.function == outside) {
            is_whole = false;
            break;
        }
        if (i == 0) {
            leaf.offset = place.offset;
        }
        if (functions_[place.function].canonical_name == start_main) {
            note_start(frames, functions_[place.function].module);
        }
        frames.push_back(place);
    }
    if (frames.empty()) {
        frames.push_back({function("[unknown]", "", ""), 0});
    } else if (!is_whole && !begins_thread(frames.back().function)) {
        frames.push_back({function(otf2::unknown_callers_region, "", ""), 0});
        leaf.is_cut = true;
    }
    leaf.context = Context::no_parent;
    std::uint64_t site = 0;
    bool is_met_again = false;  // the caller
    std::unordered_set<std::uint32_t> met;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        const bool is_new_here = met.insert(frame->function).second;
        leaf.context = child(leaf.context, frame->function, is_met_again && !is_new_here ? 0 : site);
        is_met_again = !is_new_here;
        site = has_sites(frame->function) ? frame->offset : 0;
    }
    if (const std::string_view name = kernel == 0 ? "" : runtime_code_.in_kernel(kernel); !name.empty()) {
        leaf = {child(leaf.context, function(std::string(name), std::string(kernel_module), ""), site), 0, leaf.is_cut};
    }
    known->second = leaf;
    return leaf;
}

// Not in the system's libraries, which have no lines, and many calls of each other. Among functions that call each
// other again there are none either: these would be as many chains as there are ways through their calls.
bool ContextTree::has_sites(std::uint32_t function) const
{
    return binary::is_of_program(functions_[function].module);
}

// `frames`: what __libc_start_main, a function of `libc`, has called, innermost first. It calls `main` by another
// function of its library, or itself, in older ones.
void ContextTree::note_start(std::span<const Place> frames, const std::string& libc)
{
    const auto is_in_libc = [&](const Place& place) { return functions_[place.function].module == libc; };
    if (frames.empty()) {
        return;
    }
    starters_.insert(frames.back().function);
    if (frames.size() > 1 && is_in_libc(frames.back()) && !is_in_libc(frames[frames.size() - 2])) {
        starters_.insert(frames[frames.size() - 2].function);
    }
}

// The kernel's walk ends there, too, but does not know that it does; and a copy of the stack does in a `main` that has
// much on it. Neither `main` nor what calls it need have a name, but they were met before: in the path to MPI_Init.
bool ContextTree::begins_thread(std::uint32_t outermost) const
{
    constexpr std::array names = {"main",         "MAIN__", "_QQmain", "_start", start_main, "__libc_start_call_main",
                                  "start_thread", "clone",  "clone3"};
    return std::ranges::find(names, functions_[outermost].canonical_name) != names.end() ||
           starters_.contains(outermost);
}

Leaf ContextTree::add_path(std::vector<std::uint64_t> path, std::uint64_t time)
{
    // add() takes the first address for what it is, and this is one behind a call.
    --path.front();
    // One address alone (--callpath=site, or unwinding had taken its time) says nothing of the callers.
    return add({path, path.size() > 1 && path.size() < spool::deepest_path}, 0, time);
}

std::uint32_t ContextTree::add_call(const Leaf& caller, functions::FunctionId function)
{
    const Hash128 key = function_key(function);
    const auto [known, is_new] = function_ids_.try_emplace(key, static_cast<std::uint32_t>(functions_.size()));
    if (is_new) {
        functions_.push_back({key, "", "", "", "", function});
    }
    return child(caller.context, known->second, caller.offset);
}

bool ContextTree::are_in_one_function(std::uint64_t a, std::uint64_t b, std::uint32_t epoch)
{
    const std::uint32_t function = locate(a, epoch).function;
    return function != outside && function == locate(b, epoch).function;
}

ContextTree::Place ContextTree::locate(std::uint64_t address, std::uint32_t epoch)
{
    const auto [known, is_new] = places_[epoch].try_emplace(address);
    if (is_new) {
        const MappedRange* range = map_.find(address, epoch);
        const std::string* module = range == nullptr ? nullptr : &map_.modules()[range->module];
        if (module != nullptr && module->front() == '/') {
            known->second = in_file(*range, address);
        } else if (module != nullptr && *module == vdso_module) {
            known->second = in_vdso(*range, address);
        } else {
            known->second = in_memory(range, address);
        }
    }
    return known->second;
}

SymbolTable& ContextTree::symbols(const MappedRange& range)
{
    std::unique_ptr<SymbolTable>& known = symbols_[range.module];
    if (known == nullptr) {
        const std::string& name = map_.modules()[range.module];
        ModuleFile file = find_module(map_, range, runtime_code_.is_of_this_process());
        if (file.is_lost) {
            unreadable_.push_back(name);
        }
        known = file.path.empty() ? std::make_unique<SymbolTable>(name, std::move(file.image))
                                  : std::make_unique<SymbolTable>(name, file.path);
    }
    return *known;
}

ContextTree::Place ContextTree::in_file(const MappedRange& range, std::uint64_t address)
{
    const SymbolTable& table = symbols(range);
    // What another file has is not said about this one.
    const std::string& path = map_.modules()[range.module];
    std::string identity = table.identity();
    const bool is_unreadable = identity.empty() && std::ranges::find(unreadable_, path) != unreadable_.end();
    // Of a run that is recovered the file may come back; this one has just been there.
    const bool is_gone =
        identity.empty() && (map_.was_replaced(range.module) || (is_unreadable && runtime_code_.is_of_this_process()));
    const std::string module = path + std::string(is_gone ? deleted_remark : "");
    if (is_unreadable) {
        identity = unreadable_identity(map_.identity(range.module));
    }
    const std::uint64_t file_offset = address - range.start + range.offset;
    const auto in_binary = table.address_of(file_offset);
    const auto found = in_binary ? table.find(*in_binary) : std::nullopt;
    const std::string name = found ? found->name : fmt::format("[{}]", module.substr(module.rfind('/') + 1));
    return {function(name, module, identity, found ? found->mark : ""), in_binary.value_or(file_offset)};
}

ContextTree::Place ContextTree::in_vdso(const MappedRange& range, std::uint64_t address)
{
    const std::string module(vdso_module);
    const SymbolTable* symbols = runtime_code_.vdso(range.start, range.end);
    const auto in_binary = symbols == nullptr ? std::nullopt : symbols->address_of(address - range.start);
    if (!in_binary) {
        return {function(module, module, ""), 0};
    }
    // Without a symbol it is not called by its place: that is another function with another kernel.
    const auto found = symbols->find(*in_binary);
    return {function(found && found->has_symbol ? found->name : module, module, symbols->build_id()), *in_binary};
}

// Also where nothing is mapped any more: code that was made may be gone by the end.
ContextTree::Place ContextTree::in_memory(const MappedRange* range, std::uint64_t address)
{
    if (const std::string* name = runtime_code_.compiled(address)) {
        return {function(*name, std::string(compiled_module), ""), 0};
    }
    if (range == nullptr) {
        return {};
    }
    const std::string& module = map_.modules()[range->module];
    return {function(module, module, ""), 0};  // one function each
}

std::uint32_t ContextTree::function(const std::string& name, const std::string& module, const std::string& build_id,
                                    const std::string& mark)
{
    const Hash128 key =
        (mark.empty() ? Hasher().add(module).add(name) : Hasher().add(module).add(name).add(mark)).result();
    const auto [known, is_new] = function_ids_.try_emplace(key, static_cast<std::uint32_t>(functions_.size()));
    if (is_new) {
        functions_.push_back({key, name, module, build_id, mark, functions::FunctionId::none});
    }
    return known->second;
}

std::uint32_t ContextTree::child(std::uint32_t parent, std::uint32_t function, std::uint64_t site)
{
    Hasher hasher;
    if (parent != Context::no_parent) {
        hasher.add(contexts_[parent].key);
    }
    hasher.add(functions_[function].key);
    const Hash128 key = (site == 0 ? hasher : hasher.add(site)).result();
    const auto [known, is_new] = context_ids_.try_emplace(key, static_cast<std::uint32_t>(contexts_.size()));
    if (is_new) {
        const std::uint32_t depth = parent == Context::no_parent ? 0 : contexts_[parent].depth + 1;
        contexts_.push_back({key, function, parent, depth, site});
    }
    return known->second;
}

}  // namespace critpath::archive
