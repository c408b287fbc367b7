// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/seen_names.hpp"

#include "analysis/report/text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace critpath::report
{

namespace
{

constexpr std::string_view hidden_scopes = "…::";

/// "<…>" of " <int, double>" and "(…)" of "(int)"; nothing is in "()".
std::string folded(const std::string& text, std::string_view brackets)
{
    const std::size_t open = text.find(brackets.front());
    const std::size_t close = text.rfind(brackets.back());
    if (open == text.npos || close == text.npos || close <= open + 1)
        return text;
    return text.substr(0, open + 1).append(ellipsis).append(text.substr(close));
}

void fold_parameters(FunctionName& name)
{
    name.parameters = folded(name.parameters, "()");
}

void fold_arguments(FunctionName& name)
{
    for (NameComponent& component : name.components) {
        component.arguments = folded(component.arguments, "<>");
        component.call = folded(component.call, "()");
        if (component.identifier.starts_with('{'))
            component.identifier = folded(component.identifier, "()");
    }
}

/// Without all that can be left out before a namespace is.
FunctionName folded(FunctionName name)
{
    fold_parameters(name);
    fold_arguments(name);
    name.qualifiers.clear();
    name.suffix.clear();
    return name;
}

/// "NPairHalf…onlyNewton::build(…)": with a part of the last component that has been `dropped`, if much of it has room.
std::optional<std::string> with_part_of_scope(const FunctionName& name, std::size_t dropped, std::size_t width)
{
    constexpr std::size_t worth_it = 8;
    const NameComponent& scope = name.components[dropped - 1];
    const std::string rest = "::" + text_of(name, dropped);
    if (display_width(rest) + worth_it > width || scope.identifier.starts_with('('))
        return std::nullopt;
    const std::string text = scope.identifier + scope.arguments + scope.call;
    const std::size_t room = width - display_width(rest);
    return display_width(text) > room ? std::optional(shorten_middle(text, room) + rest) : std::nullopt;
}

/// Without as many of the outermost components as it has to, and no more than `most`; a mark says so if it has room.
std::optional<std::string> with_some_scopes(const FunctionName& name, std::size_t most, std::size_t width)
{
    for (std::size_t dropped = 0; dropped <= most; ++dropped) {
        std::string text = text_of(name, dropped);
        if (display_width(text) > width)
            continue;
        if (dropped == 0)
            return text;
        if (std::optional<std::string> more = with_part_of_scope(name, dropped, width))
            return more;
        return display_width(hidden_scopes) + display_width(text) <= width ? std::string(hidden_scopes) + text : text;
    }
    return std::nullopt;
}

/// Likewise, but the outermost component that must stay has its identifier cut: "…<double>::interpolate(…)".
std::optional<std::string> with_scopes_from(const FunctionName& name, std::size_t kept, std::size_t scopes,
                                            std::size_t width)
{
    if (std::optional<std::string> text = with_some_scopes(name, kept, width); text || kept >= scopes)
        return text;
    FunctionName cut = name;
    std::string& identifier = cut.components[kept].identifier;
    const std::size_t rest = display_width(text_of(cut, kept)) - display_width(identifier);
    if (rest >= width)
        return std::nullopt;
    identifier = shorten_middle(identifier, width - rest);
    return text_of(cut, kept);
}

/// The identifier by which a function is known: the longest of those that name it, but of no operator or lambda.
/// Nothing if that is short enough to be kept.
std::optional<std::size_t> long_own_identifier(const FunctionName& name)
{
    constexpr std::size_t readable = 24;
    std::optional<std::size_t> longest;
    std::size_t most = readable;
    for (std::size_t i = name.components.size() - own_components(name); i < name.components.size(); ++i) {
        const std::string& identifier = name.components[i].identifier;
        if (display_width(identifier) <= most || identifier.find_first_of("{(<>") != std::string::npos)
            continue;
        most = display_width(identifier);
        longest = i;
    }
    return longest;
}

/// Likewise, but a long identifier of the function is cut as well: "V…g<…double…>::compute_…es_on<1>".
std::optional<std::string> with_own_cut(const FunctionName& name, std::size_t kept, std::size_t scopes,
                                        std::size_t width)
{
    constexpr std::size_t least_of_scope = 4, parts = 3;  // of the width, one is for what the function is called
    const std::optional<std::size_t> long_one = long_own_identifier(name);
    if (!long_one)
        return std::nullopt;
    FunctionName cut = name;
    std::string& own = cut.components[*long_one].identifier;
    std::string* const scope = kept < scopes ? &cut.components[kept].identifier : nullptr;
    const std::size_t of_scope = scope != nullptr ? display_width(*scope) : 0;
    const std::size_t rest = display_width(text_of(cut, kept)) - display_width(own) - of_scope;
    const std::size_t least = std::min(of_scope, least_of_scope) + width / parts;
    if (rest + least > width)
        return std::nullopt;
    const std::size_t room = width - rest;
    const std::size_t left = std::max(std::min(of_scope, least_of_scope), room / parts);
    if (scope != nullptr)
        *scope = shorten_middle(*scope, left);
    own = shorten_middle(own, room - (scope != nullptr ? std::min(left, of_scope) : 0));
    return text_of(cut, kept);
}

/// Of the function itself, at least a part.
std::string own_text(FunctionName name, std::size_t width)
{
    name.components.erase(name.components.begin(),
                          name.components.end() - static_cast<std::ptrdiff_t>(own_components(name)));
    for (NameComponent& component : name.components) {
        component.arguments = component.arguments.empty() && component.call.empty() ? "" : ellipsis;
        component.call.clear();
    }
    if (std::string text = text_of(name); display_width(text) <= width)
        return text;
    name.parameters.clear();
    name.components.back().arguments.clear();
    std::string identifier = text_of(name);
    if (display_width(identifier) < width)
        return identifier.append(ellipsis);
    return shorten_middle(identifier, width);
}

std::string shorten_alone(const std::string& whole, const std::optional<FunctionName>& parsed, std::size_t width)
{
    if (display_width(whole) <= width || !parsed)
        return shorten_middle(whole, width);
    FunctionName name = *parsed;
    const auto fits = [&] { return display_width(text_of(name)) <= width; };
    if (fits())
        return text_of(name);
    name.suffix.clear();
    if (fits())
        return text_of(name);
    fold_parameters(name);
    if (fits())
        return text_of(name);
    fold_arguments(name);
    if (fits())
        return text_of(name);
    name.qualifiers.clear();
    const std::size_t scopes = name.components.size() - own_components(name);
    if (std::optional<std::string> text = with_some_scopes(name, scopes, width))
        return *text;
    return own_text(std::move(name), width);
}

/// Bytes that all names begin with, up to the identifier in which they differ; and those that all end with behind it.
struct Common {
    std::size_t prefix, suffix;
};

Common common_of(const std::vector<std::string_view>& names)
{
    const std::string_view first = names.front();
    Common common{first.size(), first.size()};
    const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; };
    for (const std::string_view name : names) {
        const auto begin = std::ranges::mismatch(first.substr(0, common.prefix), name).in1 - first.begin();
        common.prefix = static_cast<std::size_t>(begin);
    }
    const auto continues = [&](std::size_t at) {
        const auto before = static_cast<unsigned char>(first[at - 1]);
        return std::isalnum(before) != 0 || before == '_' || (at < first.size() && !is_character(first[at]));
    };
    while (common.prefix > 0 && continues(common.prefix))
        --common.prefix;
    for (const std::string_view name : names) {
        std::size_t same = 0;
        const std::size_t most = std::min({common.suffix, name.size() - common.prefix, first.size() - common.prefix});
        while (same < most && name[name.size() - 1 - same] == first[first.size() - 1 - same])
            ++same;
        common.suffix = same;
    }
    while (common.suffix > 0 && !is_character(first[first.size() - common.suffix]))
        --common.suffix;
    return common;
}

/// Of `name`, mostly what is between what is `common`.
std::string show_difference(std::string_view name, const Common& common, std::size_t width)
{
    constexpr std::size_t least = 8;
    const std::string_view before = name.substr(0, common.prefix);
    const std::string_view after = name.substr(name.size() - common.suffix);
    const std::string_view inner = name.substr(common.prefix, name.size() - common.prefix - common.suffix);
    std::string different = shorten_end(inner, std::min(width, std::max(least, width / 3)));
    std::size_t left = width - display_width(different);
    std::string end(after);
    if (display_width(end) + display_width(before) > left)
        end = shorten_middle(end, left / 2);
    if (end.empty() && !after.empty())  // "0x486…", not "0x486b", of "0x486bf0"
        different = shorten_end(std::string(inner).append(ellipsis), display_width(different));
    if (different.ends_with(ellipsis) && end.starts_with(ellipsis))
        end.erase(0, ellipsis.size());
    left -= display_width(end);
    return shorten_middle(before, left) + different + end;
}

struct Piece {
    std::size_t begin, end;
};

/// These pieces of a name, in their order.
std::string show_pieces(std::string_view name, Piece first, Piece second)
{
    first.end = std::min(first.end, second.begin);
    std::string text = first.begin > 0 ? std::string(ellipsis) : "";
    text.append(name.substr(first.begin, first.end - first.begin)).append(first.end < second.begin ? ellipsis : "");
    text.append(name.substr(second.begin, second.end - second.begin)).append(second.end < name.size() ? ellipsis : "");
    return text;
}

/// Likewise of a function that is itself called by `own` in `name`, with that: "…Scheme<double>…::interpolate<…".
/// Nothing if the names differ nowhere else, or it has no room.
std::optional<std::string> show_difference_beside(std::string_view name, const Piece& own, const Common& common,
                                                  std::size_t width)
{
    constexpr std::size_t least = 6;
    const bool is_behind = common.prefix >= own.end;
    const Piece all{common.prefix,
                    is_behind ? name.size() - common.suffix : std::min(name.size() - common.suffix, own.begin)};
    // With what says that it is called, and that it belongs to something.
    const Piece shown{own.begin - (name.substr(0, own.begin).ends_with("::") ? 2 : 0),
                      std::min(own.end + 1, name.size())};
    const auto is_whole_character = [&](std::size_t at) {
        return at == name.size() || (static_cast<unsigned char>(name[at]) & 0xC0U) != 0x80;
    };
    for (Piece part = all; part.end >= all.begin + std::min(least, all.end - all.begin) && part.end > part.begin;
         --part.end) {
        if (!is_whole_character(part.end) || !is_whole_character(shown.end))
            continue;
        std::string text = is_behind ? show_pieces(name, shown, part) : show_pieces(name, part, shown);
        if (display_width(text) <= width)
            return text;
    }
    return std::nullopt;
}

/// Where the identifier of a function stands in its name, without the type that it returns.
Piece own_piece(const FunctionName& name)
{
    const std::size_t behind = name.components.back().arguments.size() + name.components.back().call.size() +
                               name.parameters.size() + name.qualifiers.size() + name.suffix.size();
    const std::size_t end = text_of(name).size() - behind;
    return {end - name.components.back().identifier.size(), end};
}

/// A part of a name, and where it differs from those of others.
class DifferentPart
{
public:
    DifferentPart(std::string part, const std::set<std::string>& others) : part_(std::move(part))
    {
        std::vector<std::string_view> all = {part_};
        for (const std::string& other : others)
            if (other != part_)
                all.emplace_back(other);
        common_ = common_of(all);
        // No part of a number.
        while (common_.suffix > 0 &&
               std::isdigit(static_cast<unsigned char>(part_[part_.size() - common_.suffix])) != 0)
            --common_.suffix;
        open_ = part_.find_first_of("<([") + 1;
        is_one_ = all.size() > 1 && !part_.empty();
        has_inner_ = is_one_ && open_ > 0 && common_.prefix >= open_ && common_.suffix > 0;
    }

    /// False if all of them have it.
    [[nodiscard]] bool is_one() const { return is_one_; }
    [[nodiscard]] bool has_inner() const { return has_inner_; }
    [[nodiscard]] const std::string& whole() const { return part_; }

    /// Some texts that may stand for it, in `width` columns each.
    [[nodiscard]] std::vector<std::string> samples(std::size_t width) const
    {
        if (display_width(part_) <= width)
            return {part_};
        return has_inner_ ? std::vector<std::string>{inner(width, false), inner(width, true)}
                          : std::vector<std::string>();
    }

    /// "<…double…>": in brackets, what differs, in about `width` columns. `neighbours`: with what is right before and
    /// behind it, which tells "<…, 9>…>" from "<…, 19>…>".
    [[nodiscard]] std::string inner(std::size_t width, bool neighbours) const
    {
        constexpr std::size_t least = 4;
        const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
        std::size_t begin = common_.prefix, end = part_.size() - common_.suffix;
        if (neighbours && begin > open_ && is_ascii(part_[begin - 1]))
            --begin;
        if (neighbours && end + 1 < part_.size() && is_ascii(part_[end]))
            ++end;
        std::string text = shorten_end(part_.substr(begin, end - begin), std::max(least, width));
        if (end + 1 < part_.size() && !text.ends_with(ellipsis))
            text += ellipsis;
        return part_.substr(0, open_).append(begin > open_ ? ellipsis : "").append(text) + part_.back();
    }

private:
    std::string part_;
    Common common_{};
    std::size_t open_ = 0;
    bool is_one_ = false, has_inner_ = false;
};

/// The name that `make(part)` gives with that part in whole, or else with where it differs; it gives nothing if that
/// has no room.
template <class Make, class IsGood>
std::optional<std::string> with_part(const DifferentPart& difference, std::size_t width, Make make, IsGood is_good)
{
    if (!difference.is_one())
        return std::nullopt;
    if (std::optional<std::string> told = make(difference.whole()); is_good(told))
        return told;
    if (!difference.has_inner())
        return std::nullopt;
    for (const bool neighbours : {false, true}) {
        std::optional<std::string> told;
        for (std::size_t room = std::min(width, display_width(difference.whole())); room > 0 && !told; --room)
            told = make(difference.inner(room, neighbours));
        if (is_good(told))
            return told;
    }
    return std::nullopt;
}

/// "grid::…::step": with one component of those before its own.
std::optional<std::string> with_scope(const FunctionName& name, std::size_t at, std::size_t scopes, std::size_t width)
{
    std::string text = name.components[at].identifier + name.components[at].arguments;
    text += at + 1 < scopes ? "::…::" : "::";
    text += text_of(name, scopes);
    if (at > 0 && display_width(text) + display_width(hidden_scopes) <= width)
        text.insert(0, hidden_scopes);
    return display_width(text) <= width ? std::optional(text) : std::nullopt;
}

using Seen = SeenNames::Seen;

/// Of the templates that are so many components before the end.
std::set<std::string> arguments_among(const std::vector<const Seen*>& names, std::size_t from_end)
{
    std::set<std::string> arguments;
    for (const Seen* seen : names)
        if (seen->name && seen->name->components.size() >= from_end)
            arguments.insert(seen->name->components[seen->name->components.size() - from_end].arguments);
    return arguments;
}

std::set<std::string> parts_among(const std::vector<const Seen*>& names, std::string FunctionName::*part)
{
    std::set<std::string> parts;
    for (const Seen* seen : names)
        if (seen->name)
            parts.insert((*seen->name).*part);
    return parts;
}

/// One of the parts of a name that may tell it from others.
class NamePart
{
public:
    /// Of the template that is the component `at`.
    NamePart(std::size_t at, std::size_t components) : kept_(at), from_end_(components - at) {}
    NamePart(std::string FunctionName::*part, std::size_t kept) : part_(part), kept_(kept) {}

    [[nodiscard]] std::string& in(FunctionName& name) const
    {
        return part_ != nullptr ? name.*part_ : name.components[name.components.size() - from_end_].arguments;
    }
    /// The outermost component that has to stay with it.
    [[nodiscard]] std::size_t kept() const { return kept_; }
    [[nodiscard]] DifferentPart difference(const Seen& seen, const std::vector<const Seen*>& rivals) const
    {
        FunctionName name = *seen.name;
        return {in(name), part_ != nullptr ? parts_among(rivals, part_) : arguments_among(rivals, from_end_)};
    }

private:
    std::string FunctionName::*part_ = nullptr;
    std::size_t kept_;
    std::size_t from_end_ = 0;
};

/// Without the components before `kept`.
std::string hidden(const FunctionName& name, std::size_t kept)
{
    return (kept > 0 ? std::string(hidden_scopes) : "") + text_of(name, kept);
}

std::string tell_apart_as_text(const Seen& seen, const std::vector<const Seen*>& rivals, std::size_t width)
{
    const auto text = [](const Seen& of) { return of.ends.empty() ? of.text : of.ends.front(); };
    const std::string own = text(seen);
    std::set<std::string> others;
    for (const Seen* rival : rivals)
        others.insert(text(*rival));
    std::vector<std::string_view> all = {own};
    all.insert(all.end(), others.begin(), others.end());
    const Common common = common_of(all);
    if (seen.name)
        if (std::optional<std::string> told = show_difference_beside(own, own_piece(*seen.name), common, width))
            return *told;
    return show_difference(own, common, width);
}

bool has_own_name(const FunctionName& name, std::string_view shown)
{
    return shown.find(name.components.back().identifier) != shown.npos;
}

/// True if the pieces of `shown` between its ellipses are in `name`, in that order; the first one at its begin.
bool matches(std::string_view name, std::string_view shown)
{
    std::size_t at = 0;
    for (bool is_first = true;; is_first = false) {
        const std::size_t end = shown.find(ellipsis);
        const std::string_view piece = shown.substr(0, end);
        const std::size_t found = name.find(piece, at);
        if (found == name.npos || (is_first && found != 0))
            return false;
        if (end == shown.npos)
            return true;
        at = found + piece.size();
        shown.remove_prefix(end + ellipsis.size());
    }
}

/// A name as it is shown.
class NameAsShown
{
public:
    explicit NameAsShown(std::string text)
        : text_(std::move(text)), name_(parse_function_name(text_)), has_ellipsis_(text_.find(ellipsis) != text_.npos),
          is_own_cut_(!name_ || name_->components.back().identifier.find(ellipsis) != std::string::npos)
    {
    }

    [[nodiscard]] bool may_be(const Seen& seen) const
    {
        if (!seen.name || (!name_ && !has_ellipsis_))
            return has_ellipsis_ ? matches(seen.text, text_) : seen.text == text_;
        // "…::order(…)" is none that only has an "order(int)" among its arguments.
        if (!is_own_cut_ && name_->components.back().identifier != seen.name->components.back().identifier)
            return false;
        return matches(seen.text, text_) ||
               std::ranges::any_of(seen.ends, [&](const std::string& end) { return matches(end, text_); });
    }

private:
    std::string text_;
    std::optional<FunctionName> name_;
    bool has_ellipsis_;
    bool is_own_cut_;
};

}  // namespace

SeenNames::Seen::Seen(const std::string& seen) : text(seen), name(parse_function_name(seen))
{
    if (name)
        for (std::size_t dropped = 0; dropped < name->components.size(); ++dropped)
            ends.push_back(text_of(*name, dropped));
}

SeenNames::SeenNames(const std::set<std::string>& names)
{
    for (const std::string& name : names)
        seen_.emplace_back(name);
}

std::string SeenNames::shorten(const std::string& text, std::size_t width) const
{
    if (display_width(text) <= width)
        return text;
    const Seen seen(text);
    std::string shortened = shorten_alone(text, seen.name, width);
    const std::vector<const Seen*> rivals = rivals_of(text, shortened);
    if (rivals.empty())
        return shortened;
    if (seen.name)
        for (const OwnName own : {OwnName::Whole, OwnName::MayBeCut})
            if (std::optional<std::string> told = tell_apart(seen, rivals, width, own))
                return *told;
    const std::string told = tell_apart_as_text(seen, rivals, width);
    // No difference is worth its own name, nor one that nobody could type.
    const bool is_name = !seen.name || (NameAsShown(told).may_be(seen) &&
                                        (!has_own_name(*seen.name, shortened) || has_own_name(*seen.name, told)));
    return is_name ? told : shortened;
}

std::vector<const SeenNames::Seen*> SeenNames::rivals_of(const std::string& text, const std::string& shortened) const
{
    const NameAsShown shown(shortened);
    std::vector<const Seen*> rivals;
    for (const Seen& seen : seen_)
        if (seen.text != text && shown.may_be(seen))
            rivals.push_back(&seen);
    return rivals;
}

/// By one of its parts, or else by two.
std::optional<std::string> SeenNames::tell_apart(const Seen& seen, const std::vector<const Seen*>& rivals,
                                                 std::size_t width, OwnName own) const
{
    FunctionName base = folded(*seen.name);
    const std::size_t size = base.components.size();
    const std::size_t scopes = size - own_components(base);
    const auto is_good = [&](const std::optional<std::string>& told) {
        return told && rivals_of(seen.text, *told).empty();
    };
    std::vector<NamePart> of_components, others;
    for (std::size_t i = size; i-- > 0;)  // its own come first
        of_components.emplace_back(i, size);
    for (std::string FunctionName::*part :
         {&FunctionName::parameters, &FunctionName::qualifiers, &FunctionName::suffix})
        others.emplace_back(part, scopes);
    enum class Scope : std::uint8_t { Whole, MayBeCut };
    const auto by_part = [&](const FunctionName& from, const NamePart& part, std::size_t kept,
                             const std::vector<const Seen*>& of, Scope scope) {
        return with_part(
            part.difference(seen, of), width,
            [&](const std::string& shown) {
                FunctionName tried = from;
                part.in(tried) = shown;
                const std::size_t stays = std::min({part.kept(), kept, scopes});
                if (own == OwnName::MayBeCut)
                    return with_own_cut(tried, stays, scopes, width);
                return scope == Scope::Whole ? with_some_scopes(tried, stays, width)
                                             : with_scopes_from(tried, stays, scopes, width);
            },
            is_good);
    };
    for (const std::vector<NamePart>* parts : {&of_components, &others})
        for (const NamePart& part : *parts)
            if (auto told = by_part(base, part, scopes, rivals, Scope::Whole))
                return told;
    for (std::size_t i = own == OwnName::Whole ? scopes : 0; i-- > 0;)
        if (auto told = with_scope(base, i, scopes, width); is_good(told))
            return told;
    base.parameters.clear();
    for (const Scope scope : {Scope::Whole, Scope::MayBeCut})
        for (const NamePart& part : of_components)
            if (auto told = by_part(base, part, scopes, rivals, scope))
                return told;
    // Some have the same of each part, but none of all parts.
    std::vector<NamePart> different;
    for (const std::vector<NamePart>* parts : {&of_components, &others})
        for (const NamePart& part : *parts)
            if (part.difference(seen, rivals).is_one() && different.size() < 3)
                different.push_back(part);
    for (const NamePart& first : different)
        for (const std::string& shown : first.difference(seen, rivals).samples(width / 4)) {
            FunctionName tried = base;
            first.in(tried) = shown;
            const std::size_t kept = std::min(first.kept(), scopes);
            const std::vector<const Seen*> left = rivals_of(seen.text, hidden(tried, kept));
            for (const NamePart& second : different)
                if (&second != &first)
                    if (auto told = by_part(tried, second, kept, left, Scope::MayBeCut))
                        return told;
        }
    return std::nullopt;
}

bool reads_as(std::string_view name, std::string_view shown)
{
    return NameAsShown(std::string(shown)).may_be(SeenNames::Seen(std::string(name)));
}

}  // namespace critpath::report
