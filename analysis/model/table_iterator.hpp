// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way through a table whose elements are made when they are looked at.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

namespace critpath::model
{

/// `Table` has an operator[] that returns a value.
template <class Table>
class TableIterator
{
public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = decltype(std::declval<const Table&>()[0]);
    using difference_type = std::ptrdiff_t;

    TableIterator() = default;
    TableIterator(const Table& table, std::size_t i) : table_(&table), i_(i) {}
    value_type operator*() const { return (*table_)[i_]; }
    TableIterator& operator++()
    {
        ++i_;
        return *this;
    }
    void operator++(int) { ++i_; }
    bool operator==(const TableIterator& other) const { return i_ == other.i_; }

private:
    const Table* table_ = nullptr;
    std::size_t i_ = 0;
};

}  // namespace critpath::model
