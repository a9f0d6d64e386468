// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace moiety::apps {

/// The candidate that `name` was most likely meant to be: the fewest insertions, deletions,
/// replacements and swaps of neighbours away, letter case aside. None where even that one differs
/// in more than a third of the letters. Ties go to the first.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);

/// "; did you mean 'x'?" for the end of an error message, or "" where nothing is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace moiety::apps
