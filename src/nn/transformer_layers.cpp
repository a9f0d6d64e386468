// SPDX-License-Identifier: Apache-2.0
#include "nn/transformer_layers.h"

#include <cmath>

#include "autograd/ops/elementwise.h"
#include "autograd/ops/gather.h"
#include "autograd/ops/shape.h"

namespace moiety::nn {
namespace {

/// Of the weights that write to the residual stream: a sum of 2 L terms keeps its size when each
/// has 1 / sqrt(2 L) of it (Radford et al. 2019).
double residual_sd(const TransformerConfig& config, TransformerLayer::Kind kind) {
  if (kind == TransformerLayer::Kind::encoder) return config.init_sd;
  return config.init_sd / std::sqrt(2.0 * static_cast<double>(config.layers));
}

}  // namespace

RowNorm::RowNorm(Initializer& init, const TransformerConfig& config)
    : eps_(config.norm_eps),
      weight_(add_parameter("weight", init.constant({config.hidden}, 1.0))),
      bias_(config.norm == RowNormKind::layer ? add_parameter("bias", init.zeros({config.hidden}))
                                              : Variable()) {}

Variable RowNorm::forward(const Variable& x) const {
  const Variable weight = ops::cast(weight_, x.dtype());
  if (!bias_.defined()) return ops::rms_norm(x, weight, eps_);
  return ops::layer_norm(x, weight, ops::cast(bias_, x.dtype()), eps_);
}

FeedForward::FeedForward(Initializer& init, const TransformerConfig& config, double out_sd)
    : activation_(config.activation), width_(config.inner_width()), gated_(config.gated) {
  const std::int64_t rows = gated_ ? 2 * width_ : width_;
  up_ = &add_module<Linear>("up", init, init.normal({rows, config.hidden}, config.init_sd));
  down_ = &add_module<Linear>("down", init, init.normal({config.hidden, width_}, out_sd));
}

Variable FeedForward::forward(const Variable& x) const {
  const Variable up = up_->forward(x);
  if (!gated_) return down_->forward(activate(up, activation_));
  const Variables halves = ops::split(up, 1, {width_, width_});
  return down_->forward(ops::mul(activate(halves[0], activation_), halves[1]));
}

TransformerLayer::TransformerLayer(Initializer& init, const TransformerConfig& config, Kind kind)
    : dropout_(config.dropout), kind_(kind) {
  const double out_sd = residual_sd(config, kind);
  const bool causal = kind == Kind::decoder;
  attention_ = &add_module<MultiHeadAttention>("attention", init, config, out_sd, causal);
  attention_norm_ = &add_module<RowNorm>("attention_norm", init, config);
  inner_ = &add_module<FeedForward>("inner", init, config, out_sd);
  inner_norm_ = &add_module<RowNorm>("inner_norm", init, config);
}

/// What follows an encoder's attention.
Variable TransformerLayer::encode(const Variable& x, const Variable& mixed, std::int64_t first_row,
                                  ForwardContext& context) const {
  const auto drop = [&](const Variable& v) { return dropout(v, dropout_, context, first_row); };
  const Variable h = attention_norm_->forward(ops::add(x, drop(mixed)));
  return inner_norm_->forward(ops::add(h, drop(inner_->forward(h))));
}

Variable TransformerLayer::forward_scored(const Variable& x, const TokenBatch& batch,
                                          ForwardContext& context) const {
  check(kind_ == Kind::encoder && batch.scored.defined(),
        "forward_scored is for an encoder's layer and a batch with scored tokens");
  const RowChoice& rows = batch.scored;
  const Variable scored = ops::gather(x, rows.index, rows.ptr, rows.order);
  return encode(scored, attention_->forward_scored(x, scored, batch, context), batch.first_scored,
                context);
}

Variable TransformerLayer::forward(const Variable& x, const TokenBatch& batch,
                                   ForwardContext& context, const LayerCache* cache) const {
  if (kind_ == Kind::encoder) {
    return encode(x, attention_->forward(x, batch, context), batch.first_token, context);
  }
  const auto drop = [&](const Variable& v) {
    return dropout(v, dropout_, context, batch.first_token);
  };
  const Variable h =
      ops::add(x, drop(attention_->forward(attention_norm_->forward(x), batch, context, cache)));
  return ops::add(h, drop(inner_->forward(inner_norm_->forward(h))));
}

}  // namespace moiety::nn
