// SPDX-License-Identifier: Apache-2.0
#include "nn/sequence_models.h"

#include <algorithm>

#include "autograd/ops/cross_entropy.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/gather.h"
#include "autograd/ops/matmul.h"

namespace moiety::nn {
namespace {

/// The rows of h [T, C] that the head reads.
Variable scored_rows(const Variable& h, const TokenBatch& batch) {
  const RowChoice& scored = batch.scored;
  return scored.defined() ? ops::gather(h, scored.index, scored.ptr, scored.order) : h;
}

Variable like(const Variable& parameter, const Variable& h) {
  return ops::cast(parameter, h.dtype());
}

const Tensor& labels_of(const TokenBatch& batch) {
  check(batch.labels.defined(), "the loss of a language model needs the labels of its batch");
  return batch.labels;
}

}  // namespace

MaskedLanguageModel::MaskedLanguageModel(Initializer& init, const TransformerConfig& config) {
  encoder_ = &add_module<TransformerEncoder>("encoder", init, config);
  dense_ = &add_module<Linear>("dense", init,
                               init.normal({config.hidden, config.hidden}, config.init_sd));
  norm_ = &add_module<RowNorm>("norm", init, config);
  bias_ = add_parameter("bias", init.zeros({config.vocabulary}));
}

Variable MaskedLanguageModel::head(const TokenBatch& batch, ForwardContext& context) const {
  const Variable h = encoder_->forward(batch, context);
  return norm_->forward(ops::gelu(dense_->forward(h)));
}

Variable MaskedLanguageModel::forward(const TokenBatch& batch, ForwardContext& context) const {
  const Variable h = head(batch, context);
  return ops::linear(h, like(encoder_->embedding().tokens(), h), like(bias_, h));
}

Variable MaskedLanguageModel::loss(const TokenBatch& batch, ForwardContext& context) const {
  const Variable h = head(batch, context);
  return ops::linear_cross_entropy(h, like(encoder_->embedding().tokens(), h), like(bias_, h),
                                   labels_of(batch));
}

CausalLanguageModel::CausalLanguageModel(Initializer& init, const TransformerConfig& config) {
  decoder_ = &add_module<TransformerDecoder>("decoder", init, config);
}

Variable CausalLanguageModel::forward(const TokenBatch& batch, ForwardContext& context) const {
  const Variable h = scored_rows(decoder_->forward(batch, context), batch);
  return ops::linear(h, like(decoder_->embedding().tokens(), h), {});
}

Variable CausalLanguageModel::loss(const TokenBatch& batch, ForwardContext& context) const {
  const Variable h = scored_rows(decoder_->forward(batch, context), batch);
  return ops::linear_cross_entropy(h, like(decoder_->embedding().tokens(), h), {},
                                   labels_of(batch));
}

Variable CausalLanguageModel::next_scores(std::span<const std::int32_t> tokens,
                                          std::span<const std::int32_t> positions,
                                          const KeyValueCache& cache) const {
  const std::int64_t rows = cache.rows();
  check<ShapeError>(std::ssize(tokens) == rows && std::ssize(positions) == rows, tokens.size(),
                    " tokens at ", positions.size(), " positions for a cache of ", rows,
                    " sequences");
  const auto [first, last] = std::minmax_element(positions.begin(), positions.end());
  check<ShapeError>(rows > 0 && *first >= 0 && *last < cache.length(),
                    "a position is outside of the ", cache.length(),
                    " that the cache has room for");
  Device& device = decoder_->embedding().tokens().device();
  TokenBatch batch;
  batch.tokens = Tensor::from(tokens, {rows}, device);
  batch.positions = Tensor::from(positions, {rows}, device);
  batch.longest = *last + 1;
  ForwardContext context;
  const Variable h = decoder_->forward(batch, context, &cache);
  return ops::linear(h, like(decoder_->embedding().tokens(), h), {});
}

SequenceModel::SequenceModel(Initializer& init, const TransformerConfig& config,
                             std::int64_t outputs)
    : outputs_(outputs), dtype_(init.dtype()) {
  check<UserError>(outputs > 0, "the model needs at least one target");
  encoder_ = &add_module<TransformerEncoder>("encoder", init, config);
  dense_ = &add_module<Linear>("dense", init,
                               init.normal({config.hidden, config.hidden}, config.init_sd));
  out_ = &add_module<Linear>("out", init, init.normal({outputs, config.hidden}, config.init_sd));
}

Variable SequenceModel::forward(const TokenBatch& batch, ForwardContext& context) const {
  check<ShapeError>(batch.scored.defined() && batch.scored.rows() == batch.sequences(),
                    "a model of sequences reads the first token of each; call score_starts");
  const double p = config().dropout;
  Variable h = ops::cast(encoder_->forward(batch, context), dtype_);
  h = dense_->forward(dropout(h, p, context, batch.first_sequence));
  return out_->forward(dropout(ops::tanh(h), p, context, batch.first_sequence));
}

}  // namespace moiety::nn
