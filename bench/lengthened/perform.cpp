// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lengthened/perform.hpp"

#include "bench/lengthened/collectives.hpp"
#include "tests/oracle/grammar/sketch.hpp"

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <time.h>

namespace critpath::lengthened
{

namespace
{

using functions::SendMode;
using oracle::at;
using oracle::FunctionId;
using oracle::Kind;
using oracle::Program;
using oracle::Step;

constexpr std::int64_t second_ns = 1'000'000'000;

std::int64_t read(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec * second_ns + time.tv_nsec;
}

void sleep_for(std::int64_t ns)
{
    const std::int64_t end = read(CLOCK_MONOTONIC) + ns;
    const timespec time{end / second_ns, end % second_ns};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
    }
}

void compute_for(std::int64_t ns)
{
    for (const std::int64_t end = now() + ns; now() < end;) {
    }
}

/// How a send begins: by a call, and by one that makes a persistent request.
struct SendFunctions {
    decltype(&MPI_Send) send;
    decltype(&MPI_Isend) isend;
    decltype(&MPI_Send_init) init;
};

SendFunctions functions_of(SendMode mode)
{
    switch (mode) {
    case SendMode::Buffered:
        return {MPI_Bsend, MPI_Ibsend, MPI_Bsend_init};
    case SendMode::Synchronous:
        return {MPI_Ssend, MPI_Issend, MPI_Ssend_init};
    case SendMode::Ready:
        return {MPI_Rsend, MPI_Irsend, MPI_Rsend_init};
    default:
        return {MPI_Send, MPI_Isend, MPI_Send_init};
    }
}

int tag_of(const Step& step)
{
    return step.tag == oracle::any_tag ? MPI_ANY_TAG : step.tag;
}

int highest_request(const std::vector<Step>& steps)
{
    int highest = -1;
    for (const Step& step : steps) {
        highest = std::max(highest, step.request);
        highest = std::max(highest, highest_request(step.starts));
    }
    return highest;
}

/// One process, during one run.
class Process
{
public:
    Process(const Program& program, const Communicators& communicators, int rank, const Pace& pace)
        : program_(program), communicators_(communicators), collectives_(program, communicators_),
          steps_(program.steps[at(rank)]), pace_(pace), room_(std::max<std::size_t>(1, room(program))),
          send_buffer_(std::make_unique<char[]>(room_))
    {
        const std::size_t requests = at(highest_request(steps_) + 1);
        requests_.resize(requests, MPI_REQUEST_NULL);
        messages_.resize(requests, MPI_MESSAGE_NULL);
        buffers_.resize(requests + 1);  // the last one for what needs no request
    }

    std::vector<StepTime> run(std::size_t longer_step, std::int64_t by_ns)
    {
        std::vector<StepTime> times;
        times.reserve(steps_.size());
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const std::int64_t begin = now();
            if (steps_[i].kind == Kind::Compute)
                compute(steps_[i].ticks * pace_.tick_ns + (i == longer_step ? by_ns : 0));
            else
                take(steps_[i]);
            times.push_back({begin, now()});
        }
        return times;
    }

    /// Collective.
    void clean_up()
    {
        for (MPI_Request& request : requests_)
            if (request != MPI_REQUEST_NULL)
                MPI_Request_free(&request);
        collectives_.free_made();
    }

private:
    void compute(std::int64_t ns) const
    {
        if (ns > 0)
            pace_.is_busy ? compute_for(ns) : sleep_for(ns);
    }

    /// Between two polls. Nobody sleeps for as little as a call takes.
    void pause(std::int64_t ticks) const
    {
        constexpr std::int64_t least_sleep_ns = 10'000;
        const std::int64_t ns = ticks * pace_.poll_tick_ns;
        ns < least_sleep_ns ? compute_for(ns) : compute(ns);
    }

    void take(const Step& step)
    {
        switch (step.kind) {
        case Kind::Send:
            functions_of(step.mode).send(send_buffer_.get(), bytes(step), MPI_BYTE, peer(step), step.tag, comm(step));
            break;
        case Kind::Recv:
            MPI_Recv(buffer(step), size(), MPI_BYTE, peer(step), tag_of(step), comm(step), MPI_STATUS_IGNORE);
            break;
        case Kind::Sendrecv:
            exchange(step);
            break;
        case Kind::Isend:
        case Kind::Irecv:
            post(step);
            break;
        case Kind::Startall:
            start_all(step);
            break;
        case Kind::Waitall:
        case Kind::Waitany:
        case Kind::Waitsome:
            wait(step);
            break;
        case Kind::PollLoop:
            while (!poll(step))
                pause(step.ticks);
            break;
        case Kind::Probe:
            MPI_Probe(peer(step), tag_of(step), comm(step), MPI_STATUS_IGNORE);
            break;
        case Kind::Mprobe:
            MPI_Mprobe(peer(step), tag_of(step), comm(step), &messages_[at(step.request)], MPI_STATUS_IGNORE);
            break;
        case Kind::ProbeLoop:
            while (!probe(step))
                pause(step.ticks);
            break;
        case Kind::Mrecv:
            MPI_Mrecv(buffer(step), size(), MPI_BYTE, &messages_[at(step.message)], MPI_STATUS_IGNORE);
            break;
        case Kind::Imrecv:
            MPI_Imrecv(buffer(step), size(), MPI_BYTE, &messages_[at(step.message)], request(step));
            break;
        case Kind::Detach:
            detach();
            break;
        case Kind::Cancel:
            MPI_Cancel(request(step));
            break;
        case Kind::Collective:
            collectives_.perform(step, {send_buffer_.get(), buffer(step)}, nullptr);
            break;
        case Kind::Icollective:
            collectives_.perform(step, {send_buffer_.get(), buffer(step)}, request(step));
            break;
        default:
            throw std::logic_error("no way to perform this step");
        }
    }

    void exchange(const Step& step)
    {
        const int source = communicators_.rank_of(step.comm, step.source);
        if (step.function == FunctionId::MPI_Sendrecv_replace)
            MPI_Sendrecv_replace(buffer(step), bytes(step), MPI_BYTE, peer(step), step.tag, source, step.tag,
                                 comm(step), MPI_STATUS_IGNORE);
        else
            MPI_Sendrecv(send_buffer_.get(), bytes(step), MPI_BYTE, peer(step), step.tag, buffer(step), size(),
                         MPI_BYTE, source, step.tag, comm(step), MPI_STATUS_IGNORE);
    }

    void post(const Step& step)
    {
        if (step.persistent) {
            initialise(step);
            MPI_Start(request(step));
        } else if (step.kind == Kind::Irecv) {
            MPI_Irecv(buffer(step), size(), MPI_BYTE, peer(step), tag_of(step), comm(step), request(step));
        } else {
            functions_of(step.mode).isend(send_buffer_.get(), bytes(step), MPI_BYTE, peer(step), step.tag, comm(step),
                                          request(step));
        }
    }

    void initialise(const Step& step)
    {
        if (step.kind == Kind::Irecv)
            MPI_Recv_init(buffer(step), size(), MPI_BYTE, peer(step), tag_of(step), comm(step), request(step));
        else
            functions_of(step.mode).init(send_buffer_.get(), bytes(step), MPI_BYTE, peer(step), step.tag, comm(step),
                                         request(step));
    }

    void start_all(const Step& step)
    {
        std::vector<MPI_Request> started;
        for (const Step& start : step.starts) {
            initialise(start);
            started.push_back(*request(start));
        }
        MPI_Startall(static_cast<int>(started.size()), started.data());
    }

    /// Calls with the step's requests, and takes back what became of them.
    template <class Use>
    auto with_requests(const Step& step, const Use& use)
    {
        std::vector<MPI_Request> requests;
        for (const int number : step.requests)
            requests.push_back(requests_[at(number)]);
        const auto result = use(static_cast<int>(requests.size()), requests.data());
        for (std::size_t i = 0; i < requests.size(); ++i)
            requests_[at(step.requests[i])] = requests[i];
        return result;
    }

    void wait(const Step& step)
    {
        with_requests(step, [&](int count, MPI_Request* requests) {
            int index = 0;
            std::vector<int> indices(at(count) + 1);
            if (step.kind == Kind::Waitany)
                return MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
            if (step.kind == Kind::Waitsome)
                return MPI_Waitsome(count, requests, &index, indices.data(), MPI_STATUSES_IGNORE);
            if (step.function == FunctionId::MPI_Wait)
                return MPI_Wait(requests, MPI_STATUS_IGNORE);
            return MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        });
    }

    /// Whether it has found something.
    bool poll(const Step& step)
    {
        return with_requests(step, [&](int count, MPI_Request* requests) {
            int found = 0, index = 0;
            std::vector<int> indices(at(count) + 1);
            if (step.function == FunctionId::MPI_Test)
                MPI_Test(requests, &found, MPI_STATUS_IGNORE);
            else if (step.function == FunctionId::MPI_Testall)
                MPI_Testall(count, requests, &found, MPI_STATUSES_IGNORE);
            else if (step.function == FunctionId::MPI_Testany)
                MPI_Testany(count, requests, &index, &found, MPI_STATUS_IGNORE);
            else if (step.function == FunctionId::MPI_Testsome)
                MPI_Testsome(count, requests, &found, indices.data(), MPI_STATUSES_IGNORE);
            else
                MPI_Request_get_status(*requests, &found, MPI_STATUS_IGNORE);
            return found != 0;  // MPI_UNDEFINED: nothing is open
        });
    }

    bool probe(const Step& step)
    {
        int found = 0;
        if (step.function == FunctionId::MPI_Improbe)
            MPI_Improbe(peer(step), tag_of(step), comm(step), &found, &messages_[at(step.request)], MPI_STATUS_IGNORE);
        else
            MPI_Iprobe(peer(step), tag_of(step), comm(step), &found, MPI_STATUS_IGNORE);
        return found != 0;
    }

    static void detach()
    {
        void* buffer = nullptr;
        int bytes = 0;
        MPI_Buffer_detach(static_cast<void*>(&buffer), &bytes);
        MPI_Buffer_attach(buffer, bytes);
    }

    [[nodiscard]] MPI_Comm comm(const Step& step) const { return communicators_.handle(step.comm); }
    [[nodiscard]] int peer(const Step& step) const { return communicators_.rank_of(step.comm, step.peer); }
    [[nodiscard]] static int bytes(const Step& step) { return static_cast<int>(step.bytes); }
    [[nodiscard]] int size() const { return static_cast<int>(room_); }
    MPI_Request* request(const Step& step) { return &requests_[at(step.request)]; }

    /// Pages that nothing comes to cost nothing.
    char* buffer(const Step& step)
    {
        auto& buffer = step.request < 0 ? buffers_.back() : buffers_[at(step.request)];
        if (!buffer)
            buffer.reset(new char[room_]);
        return buffer.get();
    }

    const Program& program_;
    Communicators communicators_;
    Collectives collectives_;
    const std::vector<Step>& steps_;
    Pace pace_;
    std::size_t room_;
    std::unique_ptr<char[]> send_buffer_;
    std::vector<MPI_Request> requests_;
    std::vector<MPI_Message> messages_;
    std::vector<std::unique_ptr<char[]>> buffers_;
};

}  // namespace

std::int64_t now()
{
    return read(CLOCK_MONOTONIC_RAW);
}

bool is_performed(const Step& step)
{
    switch (step.kind) {
    case Kind::Collective:
    case Kind::Icollective:
        return is_performed(step.function);
    case Kind::Local:
    case Kind::Fork:
    case Kind::Tool:
        return false;
    default:
        return true;
    }
}

std::vector<StepTime> perform(const Program& program, const Communicators& communicators, int rank, const Pace& pace,
                              const std::optional<Lengthening>& lengthening)
{
    Process process(program, communicators, rank, pace);
    const bool is_longer = lengthening && lengthening->rank == rank;
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<StepTime> times =
        process.run(is_longer ? lengthening->step : program.steps[at(rank)].size(), is_longer ? lengthening->ns : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    process.clean_up();
    return times;
}

}  // namespace critpath::lengthened
