// SPDX-License-Identifier: Apache-2.0
#include "nn/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/cpu_math.h"
#include "tensor/error.h"

namespace moiety::nn {

void check_rule(const SamplingRule& rule) {
  check<UserError>(rule.temperature >= 0 && std::isfinite(rule.temperature),
                   "the temperature must be 0 or more, not ", rule.temperature);
  check<UserError>(rule.top_k >= 0, "top-k must be positive, or 0 for all tokens, not ",
                   rule.top_k);
  check<UserError>(rule.top_p > 0 && rule.top_p <= 1, "top-p must be above 0 and at most 1, not ",
                   rule.top_p);
}

TokenSampler::TokenSampler(const SamplingRule& rule) : rule_(rule) { check_rule(rule); }

// Leaves in order_ the tokens that may be drawn, by rank. A heap gives the first few without
// sorting all.
void TokenSampler::rank(std::size_t count) {
  const auto is_behind = [&](std::int32_t a, std::int32_t b) {
    const float x = weights_[static_cast<std::size_t>(a)];
    const float y = weights_[static_cast<std::size_t>(b)];
    return x < y || (x == y && a > b);
  };
  std::vector<std::int32_t>& order = order_;
  order.resize(weights_.size());
  std::iota(order.begin(), order.end(), 0);
  if (count < order.size()) {
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(order.begin(), end, order.end(),
                     [&](std::int32_t a, std::int32_t b) { return is_behind(b, a); });
    order.resize(count);
  }
  if (rule_.top_p == 1) {
    return std::sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return is_behind(b, a); });
  }
  double total = 0;
  for (const std::int32_t token : order) total += double{weights_[static_cast<std::size_t>(token)]};
  std::make_heap(order.begin(), order.end(), is_behind);
  double taken = 0;
  auto last = order.end();
  while (last != order.begin() && taken < rule_.top_p * total) {
    std::pop_heap(order.begin(), last, is_behind);
    taken += double{weights_[static_cast<std::size_t>(*--last)]};
  }
  order.erase(order.begin(), last);
  std::reverse(order.begin(), order.end());
}

std::int32_t TokenSampler::draw(std::span<const float> scores, double uniform) {
  check(!scores.empty() &&
            std::all_of(scores.begin(), scores.end(), [](float x) { return std::isfinite(x); }),
        "the model's scores are not finite; its weights are damaged or it did not learn");
  const auto best = std::max_element(scores.begin(), scores.end());  // the first of equals
  if (rule_.temperature == 0) return static_cast<std::int32_t>(best - scores.begin());
  weights_.resize(scores.size());
  const double slope = 1 / rule_.temperature;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double x = (double{scores[i]} - double{*best}) * slope;
    weights_[i] = kernels::cpu::math::exp(static_cast<float>(std::max(x, -200.0)));
  }
  const auto all = weights_.size();
  const auto k = static_cast<std::size_t>(rule_.top_k);
  if ((k > 0 && k < all) || rule_.top_p < 1) {
    rank(k > 0 ? std::min(k, all) : all);
  } else if (order_.size() != all) {
    order_.resize(all);
    std::iota(order_.begin(), order_.end(), 0);
  }
  const auto weight = [&](std::int32_t token) {
    return double{weights_[static_cast<std::size_t>(token)]};
  };
  double total = 0;
  for (const std::int32_t token : order_) total += weight(token);
  double rest = uniform * total;
  std::int32_t drawn = order_.front();
  for (const std::int32_t token : order_) {
    if (weight(token) == 0) continue;
    drawn = token;  // rounding may leave something for the last
    rest -= weight(token);
    if (rest < 0) break;
  }
  return drawn;
}

}  // namespace moiety::nn
