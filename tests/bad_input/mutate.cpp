// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/bad_input/mutate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace critpath::bad_input
{

namespace
{

class Mutator
{
public:
    Mutator(Archive& archive, const std::vector<Archive>& others, Random& random)
        : archive_(archive), others_(others), random_(random)
    {
    }

    std::string run()
    {
        std::string words;
        for (std::uint64_t places = 1 + below(8) / 6 + below(8) / 7; places > 0 && !archive_.empty(); --places) {
            File& file = choose_file();
            const std::string name = file.name.string();
            words += fmt::format("{}{}: {}", words.empty() ? "" : ", ", name, damage(file));
        }
        return words;
    }

private:
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    /// Each kind of file as often as the others, however many there are of it.
    File& choose_file()
    {
        const std::array<const char*, 4> kinds = {"traces.otf2", "traces.def", ".def", ".evt"};
        const std::string kind = kinds[below(kinds.size())];
        std::vector<File*> of_kind;
        for (File& file : archive_) {
            if (kind[0] == '.' ? file.name.has_parent_path() && file.name.extension() == kind : file.name == kind) {
                of_kind.push_back(&file);
            }
        }
        return of_kind.empty() ? archive_[below(archive_.size())] : *of_kind[below(of_kind.size())];
    }

    std::string damage(File& file)
    {
        std::string& bytes = file.bytes;
        if (bytes.empty()) {
            return "was empty";
        }
        const std::size_t at = below(bytes.size());
        switch (below(16)) {
        case 0:
            bytes.resize(at);
            return fmt::format("cut at {}", at);
        case 1:
        case 2:
        case 3:
            bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << below(8)));
            return fmt::format("bit flipped in {}", at);
        case 4:
        case 5:
        case 6:
            return overwrite(bytes, at);
        case 7:
        case 8:
            return extreme(bytes, at);
        case 9:
        case 10:
            return insert(bytes, at);
        case 11:
        case 12:
            return erase(bytes, at);
        case 13:
            return swap_blocks(bytes, at);
        case 14:
            return splice(file, at);
        default:
            return exchange_or_lose(file);
        }
    }

    std::string overwrite(std::string& bytes, std::size_t at)
    {
        const std::size_t size = std::min<std::size_t>(1 + below(8), bytes.size() - at);
        for (std::size_t i = 0; i < size; ++i) {
            bytes[at + i] = static_cast<char>(random_());
        }
        return fmt::format("{} bytes overwritten from {}", size, at);
    }

    /// What lengths and counts can least bear.
    std::string extreme(std::string& bytes, std::size_t at)
    {
        const std::array<int, 8> values = {0, 1, 2, 3, 4, 8, 127, 255};
        const int value = values[below(values.size())];
        const std::size_t size = std::min<std::size_t>(std::array{1, 1, 4, 9}[below(4)], bytes.size() - at);
        bytes.replace(at, size, size, static_cast<char>(value));
        return fmt::format("{} bytes of {} from {}", size, value, at);
    }

    std::string insert(std::string& bytes, std::size_t at)
    {
        const std::size_t size = 1 + below(12);
        std::string more(size, '\0');
        std::ranges::generate(more, [&] { return static_cast<char>(random_()); });
        bytes.insert(at, more);
        return fmt::format("{} bytes inserted at {}", size, at);
    }

    std::string erase(std::string& bytes, std::size_t at)
    {
        const std::size_t size = std::min<std::size_t>(1 + below(below(4) == 0 ? 200 : 12), bytes.size() - at);
        bytes.erase(at, size);
        return fmt::format("{} bytes removed at {}", size, at);
    }

    std::string swap_blocks(std::string& bytes, std::size_t at)
    {
        const std::size_t other = below(bytes.size());
        const std::size_t size = std::min<std::size_t>(1 + below(64), bytes.size() - std::max(at, other));
        std::string block = bytes.substr(at, size);
        bytes.replace(at, size, bytes.substr(other, size));
        bytes.replace(other, size, block);
        return fmt::format("{} bytes swapped between {} and {}", size, at, other);
    }

    /// A piece of any file of any archive.
    std::string splice(File& file, std::size_t at)
    {
        const Archive& archive = others_[below(others_.size())];
        const File& source = archive[below(archive.size())];
        if (source.bytes.empty()) {
            return "nothing";
        }
        const std::size_t begin = below(source.bytes.size());
        const std::string piece = source.bytes.substr(begin, 1 + below(200));
        file.bytes.replace(at, below(2) == 0 ? 0 : std::min(piece.size(), file.bytes.size() - at), piece);
        return fmt::format("{} bytes of {} at {}", piece.size(), source.name.string(), at);
    }

    std::string exchange_or_lose(File& file)
    {
        if (below(2) == 0) {
            archive_.erase(archive_.begin() + (&file - archive_.data()));
            return "lost";
        }
        const Archive& archive = others_[below(others_.size())];
        const File& source = archive[below(archive.size())];
        file.bytes = source.bytes;
        return fmt::format("is {}", source.name.string());
    }

    Archive& archive_;
    const std::vector<Archive>& others_;
    Random& random_;
};

}  // namespace

std::string mutate(Archive& archive, const std::vector<Archive>& others, Random& random)
{
    return Mutator(archive, others, random).run();
}

}  // namespace critpath::bad_input
