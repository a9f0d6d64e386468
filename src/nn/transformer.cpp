// SPDX-License-Identifier: Apache-2.0
#include "nn/transformer.h"

#include <string>

#include "autograd/ops/elementwise.h"
#include "autograd/ops/gather.h"
#include "autograd/ops/shape.h"
#include "nn/recomputed.h"

namespace moiety::nn {
namespace {

const TransformerConfig& checked(const TransformerConfig& config) {
  check_config(config);
  return config;
}

/// Rows of a table by an index [T].
Variable embed(const Variable& table, const Tensor& index, DType dtype) {
  return ops::embedding_sum(ops::cast(table, dtype), index.reshape({index.numel(), 1}),
                            {static_cast<std::int32_t>(table.size(0))});
}

Variable run_layer(const TransformerLayer& layer, const Variable& x, const TokenBatch& batch,
                   ForwardContext& context, bool scored = false) {
  const auto block = [&layer, batch, scored](const Variable& h, ForwardContext& pass) {
    return scored ? layer.forward_scored(h, batch, pass) : layer.forward(h, batch, pass);
  };
  return context.recomputes() ? recomputed({&layer}, x, context, block) : block(x, context);
}

std::string layer_name(std::int64_t i) { return "layer." + std::to_string(i); }

}  // namespace

TokenEmbedding::TokenEmbedding(Initializer& init, const TransformerConfig& config)
    : max_length_(config.max_length) {
  const auto table = [&](const char* name, std::int64_t rows) {
    return add_parameter(name, init.normal({rows, config.hidden}, config.init_sd));
  };
  token_ = table("token", config.vocabulary);
  if (config.positions == PositionKind::learned) position_ = table("position", max_length_);
  if (config.token_types > 0) type_ = table("type", config.token_types);
}

Variable TokenEmbedding::forward(const TokenBatch& batch, DType dtype) const {
  check<UserError>(batch.longest <= max_length_, "a sequence has ", batch.longest,
                   " tokens and the model takes at most ", max_length_,
                   ": leave it out, cut it, or train a model with a larger model.max_length");
  Variable h = embed(token_, batch.tokens, dtype);
  if (position_.defined()) h = ops::add(h, embed(position_, batch.positions, dtype));
  if (type_.defined()) h = ops::add(h, ops::cast(ops::slice(type_, 0, 0, 1), dtype));
  return h;
}

TransformerEncoder::TransformerEncoder(Initializer& init, const TransformerConfig& config)
    : config_(checked(config)), dtype_(init.dtype()) {
  embedding_ = &add_module<TokenEmbedding>("embedding", init, config_);
  norm_ = &add_module<RowNorm>("norm", init, config_);
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    layers_.push_back(&add_module<TransformerLayer>(layer_name(i), init, config_,
                                                    TransformerLayer::Kind::encoder));
  }
}

Variable TransformerEncoder::forward(const TokenBatch& batch, ForwardContext& context) const {
  Variable h = norm_->forward(embedding_->forward(batch, context.compute_dtype(dtype_)));
  h = dropout(h, config_.dropout, context, batch.first_token);
  for (const TransformerLayer* layer : layers_) {
    h = run_layer(*layer, h, batch, context, batch.scored.defined() && layer == layers_.back());
  }
  return h;
}

TransformerDecoder::TransformerDecoder(Initializer& init, const TransformerConfig& config)
    : config_(checked(config)), dtype_(init.dtype()) {
  embedding_ = &add_module<TokenEmbedding>("embedding", init, config_);
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    layers_.push_back(&add_module<TransformerLayer>(layer_name(i), init, config_,
                                                    TransformerLayer::Kind::decoder));
  }
  norm_ = &add_module<RowNorm>("norm", init, config_);
}

Variable TransformerDecoder::forward(const TokenBatch& batch, ForwardContext& context,
                                     const KeyValueCache* cache) const {
  Variable h = embedding_->forward(batch, context.compute_dtype(dtype_));
  h = dropout(h, config_.dropout, context, batch.first_token);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    h = cache == nullptr ? run_layer(*layers_[i], h, batch, context)
                         : layers_[i]->forward(h, batch, context, &cache->layer(i));
  }
  return norm_->forward(h);
}

}  // namespace moiety::nn
