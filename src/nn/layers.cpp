// SPDX-License-Identifier: Apache-2.0
#include "nn/layers.h"

#include "autograd/ops/elementwise.h"
#include "autograd/ops/gather.h"
#include "autograd/ops/random.h"
#include "autograd/ops/shape.h"

namespace moiety::nn {
namespace {

/// With the activation in the same pass as the product where nothing stands between them.
Variable linear_norm_activation(const Linear& linear, const Norm& norm, Activation activation,
                                const Variable& x, const ForwardContext& context) {
  if (norm.is_none() && activation == Activation::relu) {
    return linear.forward(x, ops::Epilogue::relu);
  }
  return norm.activated(linear.forward(x), activation, context);
}

}  // namespace

Linear::Linear(Initializer& init, std::int64_t in, std::int64_t out, bool bias)
    : weight_(add_parameter("weight", init.glorot(out, in))),
      bias_(bias ? add_parameter("bias", init.zeros({out})) : Variable()) {}

Linear::Linear(Initializer& init, Tensor weight)
    : weight_(add_parameter("weight", std::move(weight))),
      bias_(add_parameter("bias", init.zeros({weight_.size(0)}))) {}

Variable Linear::forward(const Variable& x, ops::Epilogue epilogue) const {
  const Variable bias = bias_.defined() ? ops::cast(bias_, x.dtype()) : bias_;
  return ops::linear(x, ops::cast(weight_, x.dtype()), bias, epilogue);
}

Variables Linear::forward_parts(const Variables& xs,
                                const std::vector<std::int64_t>& extents) const {
  check<ShapeError>(xs.size() == extents.size(), xs.size(), " inputs for ", extents.size(),
                    " parts of a linear layer");
  const DType dtype = xs.empty() ? weight_.dtype() : xs[0].dtype();
  const Variables weights = ops::split(ops::cast(weight_, dtype), 0, extents);
  const Variables biases =
      bias_.defined() ? ops::split(ops::cast(bias_, dtype), 0, extents) : Variables(extents.size());
  Variables out;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    out.push_back(ops::linear(xs[i], weights[i], biases[i]));
  }
  return out;
}

CategoricalEmbedding::CategoricalEmbedding(Initializer& init, std::vector<std::int32_t> dims,
                                           std::int64_t channels)
    : dims_(std::move(dims)) {
  std::int64_t rows = 0;
  for (const std::int32_t d : dims_) rows += d;
  table_ = add_parameter("table", init.glorot(rows, channels));
}

Variable CategoricalEmbedding::forward(const Tensor& index, DType dtype) const {
  return ops::embedding_sum(ops::cast(table_, dtype), index, dims_);
}

LayerNorm::LayerNorm(Initializer& init, std::int64_t channels)
    : weight_(add_parameter("weight", init.constant({channels}, 1.0))),
      bias_(add_parameter("bias", init.zeros({channels}))) {}

Variable LayerNorm::forward(const Variable& x, const ops::NormTail& tail) const {
  return ops::layer_norm(x, ops::cast(weight_, x.dtype()), ops::cast(bias_, x.dtype()), 1e-5, tail);
}

BatchNorm::BatchNorm(Initializer& init, std::int64_t channels)
    : weight_(add_parameter("weight", init.constant({channels}, 1.0))),
      bias_(add_parameter("bias", init.zeros({channels}))),
      state_{add_buffer("running_mean", init.statistics({channels}, 0.0)),
             add_buffer("running_var", init.statistics({channels}, 1.0))} {}

Variable BatchNorm::forward(const Variable& x, const ForwardContext& context,
                            const ops::NormTail& tail) const {
  return ops::batch_norm(
      x, ops::cast(weight_, x.dtype()), ops::cast(bias_, x.dtype()), state_, context.is_training(),
      {.rows = context.rows(), .tail = tail, .updates_state = !context.is_repeated()});
}

Norm::Norm(Initializer& init, NormKind kind, std::int64_t channels) {
  if (kind == NormKind::layer) layer_ = &add_module<LayerNorm>("layer_norm", init, channels);
  if (kind == NormKind::batch) batch_ = &add_module<BatchNorm>("batch_norm", init, channels);
}

Variable Norm::forward(const Variable& x, const ForwardContext& context,
                       const ops::NormTail& tail) const {
  if (layer_) return layer_->forward(x, tail);
  if (batch_) return batch_->forward(x, context, tail);
  const Variable y = tail.epilogue == ops::Epilogue::relu ? ops::relu(x) : x;
  return tail.residual.defined() ? ops::add(tail.residual, y) : y;
}

Variable Norm::activated(const Variable& x, Activation activation, const ForwardContext& context,
                         const Variable& residual) const {
  if (activation == Activation::relu) {
    return forward(x, context, {.epilogue = ops::Epilogue::relu, .residual = residual});
  }
  const Variable y = activate(forward(x, context), activation);
  return residual.defined() ? ops::add(residual, y) : y;
}

Variable dropout(const Variable& x, double p, ForwardContext& context, std::int64_t first_row) {
  if (!context.is_training() || p == 0.0) return x;
  const auto first = static_cast<std::uint64_t>(first_row * x.size(-1));
  if (context.is_recorded()) return ops::dropout(x, p, context.next_key_place(), first);
  return ops::dropout(x, p, context.next_dropout_key(), first);
}

Variable activate(const Variable& x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return ops::relu(x);
    case Activation::silu:
      return ops::silu(x);
    case Activation::gelu:
      return ops::gelu(x);
    case Activation::tanh:
      return ops::tanh(x);
    case Activation::gelu_tanh:
      return ops::gelu_tanh(x);
  }
  throw Error("unknown activation");
}

Mlp::Mlp(Initializer& init, const std::vector<std::int64_t>& widths, Activation activation,
         NormKind norm)
    : activation_(activation) {
  check(widths.size() >= 2, "an MLP needs an input and an output width");
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::string number = std::to_string(i);
    linears_.push_back(&add_module<Linear>("linear." + number, init, widths[i], widths[i + 1]));
    if (i + 2 < widths.size()) {
      norms_.push_back(&add_module<Norm>("norm." + number, init, norm, widths[i + 1]));
    }
  }
}

Variable Mlp::forward(const Variable& x, const ForwardContext& context) const {
  Variable h = x;
  for (std::size_t i = 0; i + 1 < linears_.size(); ++i) {
    h = linear_norm_activation(*linears_[i], *norms_[i], activation_, h, context);
  }
  return linears_.back()->forward(h);
}

}  // namespace moiety::nn
