// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/sqlite.hpp"

namespace critpath::result
{

namespace
{

void check(sqlite3* handle, int code)
{
    if (code != SQLITE_OK)
        throw DatabaseError(code, handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle));
}

sqlite3* open_memory()
{
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    if (code != SQLITE_OK) {
        const std::string message = handle == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle);
        sqlite3_close(handle);
        throw DatabaseError(code, message);
    }
    return handle;
}

}  // namespace

Database::Database() : handle_(open_memory()) {}

Database::Database(std::span<unsigned char> content) : handle_(open_memory())
{
    const auto size = static_cast<sqlite3_int64>(content.size());
    check(get(), sqlite3_deserialize(get(), "main", content.data(), size, size, SQLITE_DESERIALIZE_READONLY));
    // The file may have been damaged, or made by someone else: run nothing that its schema brings along.
    check(get(), sqlite3_db_config(get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr));
    check(get(), sqlite3_db_config(get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr));
    check(get(), sqlite3_db_config(get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr));
    check(get(), sqlite3_db_config(get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr));
    execute("PRAGMA cell_size_check = ON");
}

void Database::execute(const char* sql)
{
    check(get(), sqlite3_exec(get(), sql, nullptr, nullptr, nullptr));
}

std::vector<unsigned char> Database::content() const
{
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, void (*)(void*)> bytes(sqlite3_serialize(get(), "main", &size, 0),
                                                                sqlite3_free);
    if (bytes == nullptr)
        throw DatabaseError(SQLITE_NOMEM, sqlite3_errstr(SQLITE_NOMEM));
    return {bytes.get(), bytes.get() + size};
}

Statement::Statement(const Database& database, const std::string& sql)
{
    sqlite3_stmt* handle = nullptr;
    check(database.get(), sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &handle, nullptr));
    handle_.reset(handle);
}

void Statement::fail_here(int code) const
{
    throw DatabaseError(code, sqlite3_errmsg(sqlite3_db_handle(handle_.get())));
}

void Statement::bind(int parameter, std::int64_t value)
{
    if (const int code = sqlite3_bind_int64(handle_.get(), parameter + 1, value); code != SQLITE_OK)
        fail_here(code);
}

void Statement::bind(int parameter, const Value& value)
{
    if (value)
        bind(parameter, *value);
    else if (const int code = sqlite3_bind_null(handle_.get(), parameter + 1); code != SQLITE_OK)
        fail_here(code);
}

void Statement::bind(int parameter, std::string_view value)
{
    // The text outlives the run: run() binds and executes in one call.
    const int code = sqlite3_bind_text64(handle_.get(), parameter + 1, value.empty() ? "" : value.data(), value.size(),
                                         SQLITE_STATIC, SQLITE_UTF8);
    if (code != SQLITE_OK)
        fail_here(code);
}

void Statement::run_bound()
{
    const int code = sqlite3_step(handle_.get());
    if (code != SQLITE_DONE)
        fail_here(code);
    sqlite3_reset(handle_.get());
}

bool Statement::step()
{
    const int code = sqlite3_step(handle_.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        fail_here(code);
    return code == SQLITE_ROW;
}

bool Statement::is_null(int column) const
{
    return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const
{
    if (sqlite3_column_type(handle_.get(), column) != SQLITE_INTEGER)
        throw DatabaseError(SQLITE_CORRUPT, "a number is missing");
    return sqlite3_column_int64(handle_.get(), column);
}

std::string Statement::text(int column) const
{
    if (sqlite3_column_type(handle_.get(), column) != SQLITE_TEXT)
        throw DatabaseError(SQLITE_CORRUPT, "a text is missing");
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    if (text == nullptr)
        throw DatabaseError(SQLITE_NOMEM, sqlite3_errstr(SQLITE_NOMEM));
    return {text, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

}  // namespace critpath::result
