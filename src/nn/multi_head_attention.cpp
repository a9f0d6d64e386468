// SPDX-License-Identifier: Apache-2.0
#include "nn/multi_head_attention.h"

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

ops::AttentionOptions MultiHeadAttention::options(std::int64_t first,
                                                  ForwardContext& context) const {
  ops::AttentionOptions out;
  out.causal = causal_;
  out.longest = max_length_;
  out.library = context.attention();
  out.first = static_cast<std::uint64_t>(first);
  if (context.is_training() && dropout_ > 0) {
    out.dropout = dropout_;
    if (context.is_recorded()) {
      out.key_place = context.next_key_place();
    } else {
      out.key = context.next_dropout_key();
    }
  }
  return out;
}

/// Heads [T, H, D] -> [T, C].
Variable MultiHeadAttention::project(const Variable& mixed) const {
  return out_->forward(ops::reshape(mixed, {mixed.size(0), heads_ * head_size_}));
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
  if (rows.cache != nullptr) {
    return project(rows.cache->attend(parts[0], parts[1], parts[2], rows.positions));
  }
  return project(ops::attention(parts[0], parts[1], parts[2], {rows.ptr, rows.ptr, rows.checked},
                                options(rows.first, context)));
}

Variable MultiHeadAttention::forward_scored(const Variable& x, const Variable& scored,
                                            const TokenBatch& batch,
                                            ForwardContext& context) const {
  check(!causal_, "the queries of causal attention end where their keys do");
  const std::int64_t width = heads_ * head_size_;
  const std::int64_t key_width = key_heads_ * head_size_;
  const Variables products = qkv_->forward_parts({scored, x}, {width, 2 * key_width});
  Variable queries = ops::reshape(products[0], {scored.size(0), heads_, head_size_});
  const Variables parts =
      ops::split(ops::reshape(products[1], {x.size(0), 2 * key_heads_, head_size_}), 1,
                 {key_heads_, key_heads_});
  Variable keys = parts[0];
  if (angles_.defined()) {
    queries = ops::rotary(queries, batch.scored_positions, angles_);
    keys = ops::rotary(keys, batch.positions, angles_);
  }
  ops::AttentionOptions how = options(batch.first_scored, context);
  // Padding may give a sequence more queries than tokens, which other libraries do not expect.
  if (x.device().is_cuda()) how.library = kernels::AttentionLibrary::own;
  return project(
      ops::attention(queries, keys, parts[1], {batch.scored_ptr, batch.ptr, batch.checked}, how));
}

}  // namespace moiety::nn
