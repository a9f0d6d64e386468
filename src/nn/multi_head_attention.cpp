// SPDX-License-Identifier: Apache-2.0
#include "nn/multi_head_attention.h"

#include "autograd/ops/attention.h"
#include "autograd/ops/rotary.h"
#include "autograd/ops/shape.h"

namespace moiety::nn {

MultiHeadAttention::MultiHeadAttention(Initializer& init, const TransformerConfig& config,
                                       double out_sd, bool causal)
    : heads_(config.heads),
      key_heads_(config.heads_of_keys()),
      head_size_(config.head_size()),
      max_length_(config.max_length),
      dropout_(config.attention_dropout),
      causal_(causal) {
  const std::int64_t width = config.hidden;
  const std::int64_t rows = (heads_ + 2 * key_heads_) * head_size_;
  qkv_ = &add_module<Linear>("qkv", init, init.normal({rows, width}, config.init_sd));
  out_ = &add_module<Linear>("out", init, init.normal({width, width}, out_sd));
  if (config.positions == PositionKind::rotary) {
    angles_ =
        ops::rotary_table(max_length_, head_size_, config.rotary_base, init.dtype(), init.device());
  }
}

Variable MultiHeadAttention::forward(const Variable& x, const Rows& rows,
                                     ForwardContext& context) const {
  const std::int64_t tokens = x.size(0);
  const Variable joint =
      ops::reshape(qkv_->forward(x), {tokens, heads_ + 2 * key_heads_, head_size_});
  Variables parts;  // queries, keys, values
  if (angles_.defined()) {
    const Variables turned = ops::split(joint, 1, {heads_ + key_heads_, key_heads_});
    parts = ops::split(ops::rotary(turned[0], rows.positions, angles_), 1, {heads_, key_heads_});
    parts.push_back(turned[1]);
  } else {
    parts = ops::split(joint, 1, {heads_, key_heads_, key_heads_});
  }
  const auto finish = [&](const Variable& mixed) {
    return out_->forward(ops::reshape(mixed, {tokens, heads_ * head_size_}));
  };
  if (rows.cache != nullptr) {
    return finish(rows.cache->attend(parts[0], parts[1], parts[2], rows.positions));
  }
  ops::AttentionOptions options;
  options.causal = causal_;
  options.longest = max_length_;
  options.library = context.attention();
  options.first = static_cast<std::uint64_t>(rows.first);
  if (context.is_training() && dropout_ > 0) {
    options.dropout = dropout_;
    if (context.is_recorded()) {
      options.key_place = context.next_key_place();
    } else {
      options.key = context.next_dropout_key();
    }
  }
  return finish(
      ops::attention(parts[0], parts[1], parts[2], {rows.ptr, rows.ptr, rows.checked}, options));
}

}  // namespace moiety::nn
