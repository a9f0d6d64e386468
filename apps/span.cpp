// SPDX-License-Identifier: Apache-2.0
#include "apps/span.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace moiety::apps {

std::int64_t Span::steps(std::int64_t steps_per_epoch) const {
  if (count == 0) return 0;
  const double steps = unit == Unit::epochs ? count * static_cast<double>(steps_per_epoch) : count;
  return std::max<std::int64_t>(1, std::llround(steps));
}

std::optional<Span> parse_span(std::string_view text) {
  Span span;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, span.count);
  if (error != std::errc() || !std::isfinite(span.count) || std::abs(span.count) > 1e15) {
    return std::nullopt;
  }
  const std::string_view unit(stop, end);
  if (unit == " epochs" || unit == " epoch") {
    span.unit = Span::Unit::epochs;
    return span;
  }
  const bool steps = unit == " steps" || unit == " step";
  return steps && span.count == std::floor(span.count) ? std::optional(span) : std::nullopt;
}

std::string to_string(const Span& span) {
  const char* unit = span.unit == Span::Unit::epochs ? "epoch" : "step";
  return fmt::format("{} {}{}", span.count, unit, span.count == 1 ? "" : "s");
}

}  // namespace moiety::apps
