// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "nn/flat_parameters.h"
#include "nn/parallel_step.h"
#include "nn/sequence_models.h"
#include "tensor/rng.h"

// Small models of tokens and passes of them.
namespace moiety::nn {

using Numbers = std::vector<std::int32_t>;

inline TransformerConfig small_config() {
  TransformerConfig config;
  config.vocabulary = 20;
  config.max_length = 16;
  config.hidden = 24;
  config.layers = 2;
  config.heads = 4;
  config.init_sd = 0.2;
  config.dropout = 0;
  config.attention_dropout = 0;
  return config;
}

/// Rotary positions, RMS norms, SwiGLU, heads that share keys.
inline TransformerConfig other_config() {
  TransformerConfig config = small_config();
  config.positions = PositionKind::rotary;
  config.norm = RowNormKind::rms;
  config.activation = Activation::silu;
  config.gated = true;
  config.key_heads = 2;
  config.inner = 20;
  return config;
}

inline std::vector<Numbers> random_sequences(const Numbers& lengths, std::uint64_t stream = 1) {
  std::vector<Numbers> out;
  std::uint64_t place = 0;
  for (const std::int32_t length : lengths) {
    Numbers& tokens = out.emplace_back();
    for (std::int32_t i = 0; i < length; ++i) {
      tokens.push_back(static_cast<std::int32_t>(random_below({2, stream}, place++, 20)));
    }
  }
  return out;
}

/// Every third token is scored; none of the second sequence, which is cut off by itself below.
inline TokenBatch labelled_batch(Device& device) {
  TokenBatch batch = pack_tokens(random_sequences({5, 1, 9, 2, 16, 3, 3}), device);
  Numbers labels;
  for (std::int64_t t = 0; t < batch.token_count(); ++t) {
    labels.push_back(t % 3 == 1 ? static_cast<std::int32_t>(t % 20) : -100);
  }
  score_labelled(batch, labels);
  return batch;
}

struct Pass {
  double loss = 0;
  std::vector<float> gradient;
};

/// Loss and gradients of a training pass; the batch is cut into parts that end at these sequences.
template <class Model>
Pass run_pass(const TransformerConfig& config, Device& device,
              const std::vector<std::int64_t>& ends, DType compute = DType::f32) {
  Initializer init(device, 3);
  const Model model(init, config);
  const FlatParameters parameters(model);
  const FlatBuffer gradients = parameters.make_buffer();
  const auto host = make_cpu_device(1);
  const TokenBatch batch = labelled_batch(device.is_cuda() ? *host : device);
  ParallelStep step(parameters, true);
  Pass out;
  out.loss = step.run(
      std::ssize(ends),
      [&](std::int64_t part) {
        const auto p = static_cast<std::size_t>(part);
        auto context = ForwardContext::training(5, 17);
        context.compute_in(compute);
        const TokenBatch own = part_of(batch, p == 0 ? 0 : ends[p - 1], ends[p]);
        return model.loss(to_device(own, device), context);
      },
      gradients);
  out.gradient = gradients.flat.to_vector<float>();
  return out;
}

/// The Euclidean distance over the length of b.
inline double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(double{a[i]} - double{b[i]}, 2);
    length += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(difference / length);
}

inline TransformerConfig with_dropout(TransformerConfig config) {
  config.dropout = 0.2;
  config.attention_dropout = 0.3;
  return config;
}

}  // namespace moiety::nn
