// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/support/last_words.hpp"

#include <array>
#include <csignal>
#include <cstddef>
#include <ctime>

#include <unistd.h>

namespace critpath
{

namespace
{

thread_local const LastWords* innermost = nullptr;

const char* tool_name = "critpath";
bool speaks_later = false;

constexpr std::array fatal_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
std::array<struct sigaction, fatal_signals.size()> previous;

}  // namespace

// Between the signal and the end only what is async-signal-safe.
struct CrashHandler {
    static void handle(int signal, siginfo_t* info, void* /*context*/)
    {
        const LastWords* words = innermost;
        innermost = nullptr;
        // What was going on is not the reason if somebody else sent the signal.
        const bool is_sent = info->si_code <= 0 && info->si_pid != ::getpid();
        if (is_sent) {
            [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, sent_line.data(), sent_line.size());
        } else if (words != nullptr) {
            if (speaks_later) {
                const timespec moment = {1, 0};
                ::nanosleep(&moment, nullptr);
            }
            [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, words->line_.data(), words->line_.size());
            if (words->code_ == ExitCode::BadTrace) {
                ::_exit(static_cast<int>(words->code_));
            }
        }
        for (std::size_t i = 0; i < fatal_signals.size(); ++i) {
            if (fatal_signals[i] == signal) {
                ::sigaction(signal, &previous[i], nullptr);
            }
        }
        ::raise(signal);  // comes when this handler has returned
    }

    static inline std::string sent_line;
    static std::string line(const std::string& message) { return fmt::format("{}: {}\n", tool_name, message); }
};

LastWords::LastWords(ExitCode code, const std::string& message)
    : outer_(innermost), code_(code), line_(CrashHandler::line(message))
{
    innermost = this;
}

LastWords::~LastWords()
{
    innermost = outer_;
}

void catch_crashes(const char* tool, bool later)
{
    tool_name = tool;
    speaks_later = later;
    CrashHandler::sent_line = CrashHandler::line("ended by a signal that another process has sent");
    // A stack that has overflowed cannot take the handler.
    alignas(16) static std::array<std::byte, 1 << 16> handler_stack;
    stack_t stack{};
    stack.ss_sp = handler_stack.data();
    stack.ss_size = handler_stack.size();
    ::sigaltstack(&stack, nullptr);
    struct sigaction action {
    };
    action.sa_sigaction = CrashHandler::handle;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
    for (std::size_t i = 0; i < fatal_signals.size(); ++i) {
        ::sigaction(fatal_signals[i], &action, &previous[i]);
    }
}

}  // namespace critpath
