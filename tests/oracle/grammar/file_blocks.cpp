// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/grammar/blocks.hpp"

#include <cstdint>
#include <vector>

namespace critpath::oracle::blocks
{

namespace
{

using enum FunctionId;

/// Who waits for whom in an operation on a file, which MPI leaves open.
enum class Waits : std::uint8_t { ForNobody, ForAll, AsOrdered };

/// One member after the other in the file, but not in time.
std::vector<int> sources(const Sketch& s, std::size_t comm, Waits waits, int member)
{
    const int size = static_cast<int>(s.members(comm).size());
    std::vector<int> result;
    const int end = waits == Waits::ForNobody ? 0 : waits == Waits::ForAll ? size : member + 1;
    for (int other = 0; other < end; ++other)
        result.push_back(other);
    return result;
}

/// Who opened the file operates on it, and each one's own part takes `most` ticks at most.
class File
{
public:
    File(Sketch& s, std::size_t comm) : s_(s), comm_(comm), members_(s.members(comm)) {}

    void operate(FunctionId function, Waits waits, int most = 0)
    {
        each([&](int member, int r) {
            s_.add(r, step(function, waits, member, most));
            s_.compute(r, 30);
        });
    }

    /// One half of it may wait, and what the file system does may be in either.
    void operate_split(FunctionId begin, FunctionId end, Waits waits, int most)
    {
        const bool begin_waits = s_.chance(2);
        each([&](int member, int r) {
            const int request = s_.post(r, step(begin, begin_waits ? waits : Waits::ForNobody, member, most));
            s_.compute(r, 30);
            Step second = step(end, begin_waits ? Waits::ForNobody : waits, member, most);
            second.request = request;
            s_.add(r, second);
            s_.compute(r, 30);
        });
    }

    /// Each by itself.
    void access(FunctionId function, int most)
    {
        each([&](int, int r) {
            s_.add(r, {.kind = Kind::Local, .ticks = s_.draw(0, most), .function = function});
            s_.compute(r, 30);
        });
    }

private:
    template <class Visit>
    void each(Visit visit)
    {
        for (std::size_t m = 0; m < members_.size(); ++m)
            visit(static_cast<int>(m), members_[m]);
    }

    Step step(FunctionId function, Waits waits, int member, int most)
    {
        return {.kind = Kind::Collective,
                .ticks = s_.draw(0, most),
                .function = function,
                .comm = comm_,
                .part = Part{true, true, sources(s_, comm_, waits, member)}};
    }

    Sketch& s_;
    std::size_t comm_;
    std::vector<int> members_;
};

}  // namespace

void files(Sketch& s)
{
    File file(s, s.one_of({Sketch::world, Sketch::even, Sketch::reversed}));
    file.operate(MPI_File_open, Waits::ForAll, longest_in_file_system);
    for (int i = s.draw(1, 5); i > 0; --i) {
        const Waits waits = s.one_of({Waits::ForNobody, Waits::ForAll});
        switch (s.draw(0, 4)) {
        case 0:
            file.operate(s.one_of({MPI_File_set_view, MPI_File_set_size, MPI_File_sync, MPI_File_preallocate}), waits);
            break;
        case 1:
            file.operate(s.one_of({MPI_File_write_all, MPI_File_write_at_all, MPI_File_read_all, MPI_File_read_at_all}),
                         waits, longest_in_file_system);
            break;
        case 2:
            file.operate(s.one_of({MPI_File_write_ordered, MPI_File_read_ordered}), Waits::AsOrdered,
                         longest_in_file_system);
            break;
        case 3:
            file.operate_split(MPI_File_write_all_begin, MPI_File_write_all_end, waits, longest_in_file_system);
            break;
        default:
            file.access(s.one_of({MPI_File_write_at, MPI_File_read_at, MPI_File_write, MPI_File_read_shared}),
                        longest_in_file_system);
            break;
        }
    }
    // By the standard for nobody; Open MPI 4.1 meets.
    file.operate(MPI_File_close, s.one_of({Waits::ForNobody, Waits::ForAll}), longest_in_file_system);
}

}  // namespace critpath::oracle::blocks
