// SPDX-License-Identifier: Apache-2.0
#include "apps/suggest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// The optimal string alignment distance, three rows of its table at a time.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates) {
  const std::string wanted = lower(name);
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t d = distance(wanted, lower(candidate));
    const std::size_t allowed =
        std::max<std::size_t>(1, std::max(wanted.size(), candidate.size()) / 3);
    if (d <= allowed && (best == nullptr || d < best_distance)) {
      best = &candidate;
      best_distance = d;
    }
  }
  return best == nullptr ? std::nullopt : std::optional<std::string>(*best);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const auto near = nearest(name, candidates);
  return near ? concat("; did you mean '", *near, "'?") : std::string();
}

}  // namespace moiety::apps
