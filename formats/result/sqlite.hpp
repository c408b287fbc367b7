// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns RAII over SQLite, for databases that live in memory. The files are read and written whole (file.hpp): no
// locks, which parallel file systems lack, and no journal.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::result
{

/// What SQLite said; write() and read() turn it into a Failure that names the file.
class DatabaseError : public std::runtime_error
{
public:
    DatabaseError(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

class Database
{
public:
    /// An empty database.
    Database();
    /// The database with the content of a file, read-only; `content` must outlive it.
    explicit Database(std::span<unsigned char> content);

    void execute(const char* sql);
    [[nodiscard]] std::vector<unsigned char> content() const;
    [[nodiscard]] sqlite3* get() const { return handle_.get(); }

private:
    struct Close {
        void operator()(sqlite3* handle) const { sqlite3_close(handle); }
    };
    std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement. Parameters and columns count from 0.
class Statement
{
public:
    Statement(const Database& database, const std::string& sql);

    // Writing: one call runs the statement once with these values.
    using Value = std::optional<std::int64_t>;
    template <class... Values>
    void run(const Values&... values)
    {
        int parameter = 0;
        (bind(parameter++, values), ...);
        run_bound();
    }

    void run(const std::vector<Value>& values)
    {
        int parameter = 0;
        for (const Value& value : values)
            bind(parameter++, value);
        run_bound();
    }

    // Reading: step() is true as long as there is a row; columns of another type throw.
    bool step();
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string text(int column) const;

private:
    void bind(int parameter, std::int64_t value);
    void bind(int parameter, std::uint64_t value) { bind(parameter, static_cast<std::int64_t>(value)); }
    void bind(int parameter, std::uint32_t value) { bind(parameter, static_cast<std::int64_t>(value)); }
    void bind(int parameter, const Value& value);
    void bind(int parameter, std::string_view value);
    void run_bound();
    [[noreturn]] void fail_here(int code) const;

    struct Finalize {
        void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace critpath::result
