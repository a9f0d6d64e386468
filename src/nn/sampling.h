// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace moiety::nn {

/// How a token is drawn from a model's scores. Tokens are ranked by their score, equal ones by
/// their number.
struct SamplingRule {
  double temperature = 1;  ///< scores are divided by it; 0: the first of the ranking is taken
  std::int64_t top_k = 0;  ///< draw from the first k alone; 0: from all
  double top_p = 1;        ///< of those, from the fewest first that together have this probability
};

/// Throws UserError naming what cannot be.
void check_rule(const SamplingRule& rule);

/// Draws tokens; one a thread.
class TokenSampler {
 public:
  /// Throws UserError as check_rule does.
  explicit TokenSampler(const SamplingRule& rule);

  /// The token that a number in [0, 1) falls on, where each has a share as large as its
  /// probability. Throws Error for scores [V] that are not finite.
  std::int32_t draw(std::span<const float> scores, double uniform);

 private:
  void rank(std::size_t count);

  SamplingRule rule_;
  std::vector<float> weights_;       // [V], that of the first is 1
  std::vector<std::int32_t> order_;  // the tokens that are left
};

}  // namespace moiety::nn
