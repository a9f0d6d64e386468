// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace moiety::apps {

/// A stretch of training, written "500 steps" or "2 epochs".
struct Span {
  enum class Unit : std::uint8_t { steps, epochs };
  double count = 0;
  Unit unit = Unit::steps;

  /// The same stretch in optimizer steps, rounded to the nearest; at least 1 unless count is 0.
  std::int64_t steps(std::int64_t steps_per_epoch) const;
  bool operator==(const Span&) const = default;
};

/// "500 steps", "1 epoch", "0.5 epochs" as a Span; nothing for any other text.
std::optional<Span> parse_span(std::string_view text);
/// The inverse of parse_span.
std::string to_string(const Span& span);

}  // namespace moiety::apps
