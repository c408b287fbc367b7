// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the trace builder: a few lines state what each rank did and when, and become the trace in memory that the
// replay works on. Times are whole microseconds; each call is given as {enter, leave}. Calls of a rank are stated in
// order of time.
//
//     Program p(2);
//     p[0].send({10, 11}, 1);
//     p[1].recv({5, 12}, 0);
//     p.finish(20);
#pragma once

#include "analysis/model/trace.hpp"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::tests
{

using functions::FunctionId;
using functions::SendMode;

inline constexpr std::int64_t us = 1000;  // ns

/// Of a time as a program states it.
inline model::Ns from_us(std::int64_t time)
{
    return std::chrono::microseconds{time};
}

/// {enter, leave} of a call, us.
struct Span {
    std::int64_t enter, leave;
};

/// A request, or a message that a matched probe has found; of the rank that made it.
struct Request {
    bool receiving = false;
    std::size_t index = 0;
};
struct Probed {
    model::CallRef call;
};

class Program;

/// One rank. Ranks, tags and byte counts have defaults, so that a test states only what it is about.
class Rank
{
public:
    // Blocking messages. `from` is the actual source, also for a receive from MPI_ANY_SOURCE.
    void send(Span span, int to, std::uint64_t bytes = 8, int tag = 0);
    void ssend(Span span, int to, std::uint64_t bytes = 8, int tag = 0);
    void bsend(Span span, int to, std::uint64_t bytes = 8, int tag = 0);
    void rsend(Span span, int to, std::uint64_t bytes = 8, int tag = 0);
    void recv(Span span, int from, std::uint64_t bytes = 8, int tag = 0);
    void sendrecv(Span span, int to, int from, std::uint64_t bytes = 8, int tag = 0);

    // Non-blocking and persistent.
    Request isend(Span span, int to, std::uint64_t bytes = 8, int tag = 0);
    Request issend(Span span, int to, std::uint64_t bytes = 8, int tag = 0);
    Request irecv(Span span, int from, std::uint64_t bytes = 8, int tag = 0);
    Request start_send(Span span, int to, std::uint64_t bytes = 8, int tag = 0);
    Request start_recv(Span span, int from, std::uint64_t bytes = 8, int tag = 0);
    void wait(Span span, Request request);
    /// In a call of any function.
    void wait_in(FunctionId function, Span span, Request request);
    void waitall(Span span, const std::vector<Request>& requests);
    void waitany(Span span, Request completed);
    void waitsome(Span span, const std::vector<Request>& completed);
    void test(Span span, Request completed);
    /// It is known that it has finished.
    void free_finished(Span span, Request request);
    /// The receive is cancelled, and this call completes it.
    void wait_cancelled(Span span, Request request);

    // Probes.
    void probe(Span span, int from, int tag = 0);   // of the next receive of that envelope
    void iprobe(Span span, int from, int tag = 0);  // likewise, and it finds it
    Probed mprobe(Span span);
    void mrecv(Span span, Probed message, int from, std::uint64_t bytes = 8, int tag = 0);
    Request imrecv(Span span, Probed message, int from, std::uint64_t bytes = 8, int tag = 0);

    // Collectives, on the world or on `comm`.
    void collective(FunctionId function, Span span, std::uint64_t bytes = 8);
    void collective(FunctionId function, Span span, model::CommId comm, int root = -1, std::uint64_t bytes = 8);
    void rooted(FunctionId function, Span span, int root, std::uint64_t bytes = 8);
    /// With as much to give, and to get.
    void part(FunctionId function, Span span, std::uint64_t sent, std::uint64_t received,
              model::CommId comm = model::CommId{0}, int root = -1);
    /// A non-blocking one; it has the communicator of its wait.
    Request icollective(FunctionId function, Span span);
    /// A persistent one, likewise, by MPI_Start. `function`: the non-blocking one.
    Request start_collective(FunctionId function, Span span);
    void wait_collective(Span span, Request posted, int root = -1, std::uint64_t bytes = 8,
                         model::CommId comm = model::CommId{0});
    /// Several of the world at once.
    void waitall_collectives(Span span, const std::vector<Request>& posted);
    /// A split operation on a file.
    Request split_begin(FunctionId function, Span span);
    void split_end(FunctionId function, Span span, Request begun, int root = -1, std::uint64_t bytes = 8,
                   model::CommId comm = model::CommId{0});

    // One-sided communication (windows.cpp).
    /// `bytes`: of the transfers that it ends.
    void fence(Span span, model::WindowId window, bool precedes = true, std::uint64_t bytes = 0);
    void window_collective(FunctionId function, Span span, model::WindowId window);
    void post(Span span, model::WindowId window, std::initializer_list<std::uint32_t> origins);
    void start(Span span, model::WindowId window, std::initializer_list<std::uint32_t> targets, bool no_check = false);
    void complete(Span span, model::WindowId window);
    void wait_exposed(Span span, model::WindowId window, FunctionId function = FunctionId::MPI_Win_wait);
    void lock(Span span, model::WindowId window, int target, bool exclusive = true);
    void lock_all(Span span, model::WindowId window);
    void unlock(Span span, model::WindowId window, int target, std::uint64_t bytes = 8);
    void unlock_all(Span span, model::WindowId window);
    void flush(Span span, model::WindowId window, int target, std::uint64_t bytes = 8);
    void flush_all(Span span, model::WindowId window);
    void put(Span span, model::WindowId window, int target, std::uint64_t bytes = 8);
    void get(Span span, model::WindowId window, int target, std::uint64_t bytes = 8);
    void compare_and_swap(Span span, model::WindowId window, int target);
    void fetch(Span span, model::WindowId window, int target);  // MPI_Fetch_and_op, with MPI_NO_OP
    void fetch_and_add(Span span, model::WindowId window, int target);
    void swap(Span span, model::WindowId window, int target);  // MPI_Fetch_and_op, with MPI_REPLACE
    void sync(Span span, model::WindowId window);
    /// With a request, which `wait` completes later.
    void rput(Span span, model::WindowId window, int target, std::uint64_t bytes, Span wait);
    void rget(Span span, model::WindowId window, int target, std::uint64_t bytes, Span wait);
    /// With a request, which one MPI_Waitall completes with that of a message.
    void rput_and(Span span, model::WindowId window, int target, std::uint64_t bytes, Request message, Span waitall);

    /// Any other call.
    void call(FunctionId function, Span span);

    /// Messages from here on travel on this communicator.
    Rank& on(model::CommId comm);

    void begin(std::int64_t time);                            // first event; 0 if not stated
    void finish(std::int64_t time);                           // MPI_Finalize is entered
    void die(std::int64_t time);                              // outside of calls; Program::finish is not for these
    void die_in(FunctionId function, std::int64_t enter);     // of a call that was never left
    void run_out_of_room();                                   // nothing is known behind the last call
    void region(std::int64_t time, const std::string& name);  // innermost from here on; "": none
    void sample(std::int64_t time, const std::string& function, std::int64_t weight = 1000);
    /// `path`: from the outermost function to the sampled one.
    void sample(std::int64_t time, const std::vector<std::string>& path, std::int64_t weight, std::uint64_t offset = 0);
    /// Of the last sample.
    void page_faults(std::uint32_t number);
    /// Of the event "instructions" since the sample before; SampleCounts::unknown: not known. Of all samples or none.
    void counts(std::int64_t instructions, bool scaled = false);
    /// Likewise, of several events; of all samples of the program the same ones, by name.
    void counts(const std::vector<std::pair<std::string, std::int64_t>>& events, bool scaled = false);
    /// Between the last call and the next.
    void counted(std::int64_t instructions, std::int64_t cycles);
    /// The calls that follow are made by the last of these functions, which the others have called, at this address.
    /// `function_at`: where that one is called itself.
    void called_from(const std::vector<std::string>& path, std::uint64_t site = 0, std::uint64_t function_at = 0);
    /// Likewise, with where each of them is called.
    void called_along(const std::vector<std::pair<std::string, std::uint64_t>>& path, std::uint64_t site);
    /// So many us of the last call lie between the polls that it stands for.
    void between_polls(std::int64_t microseconds);
    /// Has no processor, and comes back on another one if it has migrated.
    void off(Span span, bool preempted, bool has_migrated = false);
    void blocked(Span span, model::WaitsFor what);
    void tool(Span span);
    void switched_off(Span span);

private:
    friend class Program;
    Rank(Program& program, std::uint32_t rank);

    model::CallRef add(FunctionId function, Span span);
    model::WindowEvent& window_event(model::CallRef call, model::WindowId window, model::WindowEvent::What what,
                                     int target = -1, std::uint64_t bytes = 0);
    Request post_send(model::CallRef call, SendMode mode, int to, std::uint64_t bytes, int tag);
    Request post_receive(model::CallRef call, int from, std::uint64_t bytes, int tag);
    void complete(model::CallRef call, Request request);
    void add_return(Span span);

    Program* program_;
    model::ProcessTrace trace_;
    std::vector<bool> cancelled_;
    model::CommId comm_{0};
    model::ContextId caller_ = model::ContextId::none();
    std::uint64_t site_ = 0;
};

class Program
{
public:
    explicit Program(int ranks);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    Rank& operator[](int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] int ranks() const { return static_cast<int>(ranks_.size()); }

    static model::CommId world() { return {0}; }
    static model::CommId self() { return {1}; }
    model::CommId comm(std::initializer_list<std::uint32_t> members);
    model::CommId intercomm(std::initializer_list<std::uint32_t> first, std::initializer_list<std::uint32_t> second);

    /// A topology, as far as it is stated: whom the rank gets something from.
    void neighbours(model::CommId comm, std::uint32_t rank, const std::vector<std::uint32_t>& sources);

    model::WindowId window(std::initializer_list<std::uint32_t> members);
    /// For Rank::post and Rank::start.
    model::ProcessGroupId group(std::initializer_list<std::uint32_t> members);

    /// By rank: whose clock it has (dense, from 0); and by clock: how far off it may be, in us.
    void clocks(const std::vector<std::uint32_t>& of_rank, const std::vector<std::int64_t>& uncertainty);

    /// By rank: the node that it runs on.
    void nodes(const std::vector<std::string>& of_rank);

    /// All ranks that have not finished enter MPI_Finalize.
    void finish(std::int64_t time);

    /// The trace of everything stated so far: receives that were cancelled or not completed are left out and counted.
    [[nodiscard]] const model::Definitions& definitions() const { return definitions_; }
    [[nodiscard]] model::ProcessTrace trace(int rank) const;

private:
    friend class Rank;
    model::RegionId region(FunctionId function);
    model::RegionId region(model::RegionRole role, const std::string& name);
    model::ContextId context(model::RegionId region, model::ContextId parent, std::uint64_t site = 0);
    model::ContextId context(model::RegionRole role, const std::vector<std::string>& path);

    model::Definitions definitions_;
    std::map<FunctionId, model::RegionId> functions_;
    std::map<std::pair<model::RegionRole, std::string>, model::RegionId> regions_;
    std::map<std::tuple<model::RegionId, model::ContextId, std::uint64_t>, model::ContextId> contexts_;
    std::vector<Rank> ranks_;
};

}  // namespace critpath::tests
