// SPDX-License-Identifier: Apache-2.0
#include "autograd/ops/attention.h"

#include <cmath>

#include "autograd/node.h"
#include "autograd/ops/contiguous.h"
#include "kernels/index_check.h"
#include "kernels/norm.h"

namespace moiety::ops {
namespace {

kernels::AttentionRule rule_of(const AttentionOptions& options, std::int64_t head_size) {
  constexpr std::int64_t kWords = 4;  // of a counter of the generator
  kernels::AttentionRule rule;
  rule.scale = options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(head_size));
  rule.causal = options.causal;
  rule.dropout = options.dropout;
  rule.key = options.key_place.defined() ? kernels::KeySource(options.key_place.view())
                                         : kernels::KeySource(options.key);
  rule.first = options.first;
  rule.library = options.library;
  rule.row_stride = (options.longest + kWords - 1) / kWords * kWords;
  return rule;
}

/// Itself where the elements of each head are contiguous, as in a slice of a joint projection.
Tensor by_heads(const Tensor& x) {
  check<ShapeError>(x.ndim() == 3, "attention: ", x.shape(), " is not [tokens, heads, head size]");
  return x.size(2) <= 1 || x.strides()[2] == 1 ? x : contiguous(x);
}

kernels::AttentionInputs inputs_of(const Tensor& q, const Tensor& k, const Tensor& v,
                                   const Sequences& sequences, const Variable& bias) {
  return {q,
          k,
          v,
          sequences.query_ptr,
          sequences.key_ptr,
          bias.defined() ? bias.data().view() : TensorView{}};
}

void check_sequences(const Sequences& sequences, std::int64_t queries, std::int64_t keys) {
  const auto& [query_ptr, key_ptr, checked] = sequences;
  if (checked) return;
  const Stream& stream = query_ptr.device().stream();
  kernels::check_ptr(stream, query_ptr, queries, "attention", "query_ptr");
  const bool same = query_ptr.raw_data() == key_ptr.raw_data() &&
                    query_ptr.shape() == key_ptr.shape() && queries == keys;
  if (!same) kernels::check_ptr(stream, key_ptr, keys, "attention", "key_ptr");
}

/// With the bias as a fourth where there is one.
Variables with_bias(const Variable& q, const Variable& k, const Variable& v, const Variable& bias) {
  Variables inputs = {q, k, v};
  if (bias.defined()) inputs.push_back(bias);
  return inputs;
}

Variables gradient(const autograd::RuleContext& c, const Sequences& sequences,
                   const AttentionOptions& options, const Tensor& lse) {
  check(!autograd::grad_enabled(),
        "attention has no second derivative; use a model without attention for energies whose "
        "forces are trained, or freeze what leads to it");
  const bool has_bias = c.input_count() > 3;
  const Tensor q = by_heads(c.input(0).data());
  const Tensor k = by_heads(c.input(1).data());
  const Tensor v = by_heads(c.input(2).data());
  const auto like = [](const Tensor& x) { return Tensor::empty(x.shape(), x.dtype(), x.device()); };
  Variables out = {Variable(like(q)), Variable(like(k)), Variable(like(v))};
  kernels::AttentionGrads grads{out[0].data(), out[1].data(), out[2].data(), {}};
  const Variable bias = has_bias ? c.input(3) : Variable();
  if (has_bias && c.needs(3)) {
    out.emplace_back(like(bias.data()));
    grads.bias = out[3].data();
  } else if (has_bias) {
    out.emplace_back();
  }
  kernels::attention_grad(q.device().stream(), rule_of(options, q.size(2)),
                          inputs_of(q, k, v, sequences, bias), c.output().data(), lse,
                          contiguous(c.grad().data()), grads);
  return out;
}

}  // namespace

Variable attention(const Variable& q, const Variable& k, const Variable& v,
                   const Sequences& sequences, const AttentionOptions& options,
                   const Variable& bias) {
  check_same_device({&q.data(), &k.data(), &v.data(), &sequences.query_ptr, &sequences.key_ptr});
  const Tensor queries = by_heads(q.data());
  const Tensor keys = by_heads(k.data());
  const Tensor values = by_heads(v.data());
  check_sequences(sequences, queries.size(0), keys.size(0));
  const Tensor out = Tensor::empty(queries.shape(), queries.dtype(), queries.device());
  const Tensor lse = Tensor::empty({queries.size(0), queries.size(1)},
                                   kernels::statistics_dtype(queries.dtype()), queries.device());
  kernels::attention(queries.device().stream(), rule_of(options, queries.size(2)),
                     inputs_of(queries, keys, values, sequences, bias), out, lse);
  const Variables inputs = with_bias(q, k, v, bias);
  return autograd::record("attention", inputs, out,
                          {.inputs = autograd::kAll, .outputs = autograd::kAll},
                          [sequences, options, lse](const autograd::RuleContext& c) -> Variables {
                            return gradient(c, sequences, options, lse);
                          });
}

}  // namespace moiety::ops
