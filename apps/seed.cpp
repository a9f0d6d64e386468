// SPDX-License-Identifier: Apache-2.0
#include "apps/seed.h"

#include <charconv>
#include <limits>

#include "tensor/error.h"

namespace moiety::apps {

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  check<UserError>(error == std::errc() && stop == end, "--seed ", text,
                   ": use a whole number from 0 to ", std::numeric_limits<std::uint64_t>::max());
  return seed;
}

}  // namespace moiety::apps
