// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.h"

#include "kernels/staged.h"
#include "tensor/device.h"

namespace moiety::kernels {

// Floating operands, for run_staged.
inline std::array<TensorView*, 4> views_of(AttentionInputs& x) {
  return {&x.q, &x.k, &x.v, &x.bias};
}
inline std::array<TensorView*, 4> views_of(AttentionGrads& x) {
  return {&x.q, &x.k, &x.v, &x.bias};
}
namespace {

bool has_dense_rows(const TensorView& x) { return x.size(2) <= 1 || x.strides[2] == 1; }

void check_pointers(const char* name, const TensorView& ptr, std::int64_t sequences,
                    std::int64_t tokens) {
  check<ShapeError>(ptr.ndim() == 1 && ptr.numel() == sequences + 1 && ptr.contiguous(),
                    "attention: ", name, " of shape ", ptr.shape, " for ", sequences,
                    " sequences of ", tokens, " tokens");
}

void check_inputs(const AttentionRule& rule, const AttentionInputs& in) {
  const auto& [q, k, v, query_ptr, key_ptr, bias] = in;
  check<ShapeError>(q.ndim() == 3 && k.ndim() == 3 && k.shape == v.shape && q.size(2) == k.size(2),
                    "attention: queries ", q.shape, ", keys ", k.shape, " and values ", v.shape,
                    " do not fit; they are [tokens, heads, head size]");
  check<ShapeError>(k.size(1) > 0 && q.size(1) % k.size(1) == 0, "attention: ", q.size(1),
                    " heads cannot share ", k.size(1), " heads of keys");
  check(has_dense_rows(q) && has_dense_rows(k) && has_dense_rows(v),
        "attention: the elements of a head must be contiguous");
  const std::int64_t sequences = query_ptr.numel() - 1;
  check_pointers("query_ptr", query_ptr, sequences, q.size(0));
  check_pointers("key_ptr", key_ptr, sequences, k.size(0));
  check(0 <= rule.dropout && rule.dropout < 1, "attention: the probability of dropout must be in ",
        "[0, 1), not ", rule.dropout);
  check(rule.dropout == 0 || rule.row_stride > 0, "attention: dropout needs a row stride");
  if (!bias.defined()) return;
  check<ShapeError>(bias.ndim() == 4 && (bias.size(0) == 1 || bias.size(0) == sequences) &&
                        (bias.size(1) == 1 || bias.size(1) == q.size(1)),
                    "attention: a bias of shape ", bias.shape, " for ", sequences,
                    " sequences and ", q.size(1), " heads");
}

}  // namespace

void attention(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
               const TensorView& out, const TensorView& lse) {
  check_inputs(rule, in);
  check<ShapeError>(out.shape == in.q.shape && lse.shape == Shape({in.q.size(0), in.q.size(1)}),
                    "attention: an output of shape ", out.shape, " for queries ", in.q.shape);
  MOIETY_CHECK(out.contiguous() && lse.contiguous());
  check<UserError>(rule.library == AttentionLibrary::own || stream.device().is_cuda(),
                   "run.attention = \"cudnn\" needs a GPU, and this is ", stream.device().name(),
                   "; use \"own\", or --device cuda");
  run_staged<cpu::attention, cuda::attention>(stream, rule, reads(in), writes(out), lse);
}

void attention_grad(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
                    const TensorView& out, const TensorView& lse, const TensorView& grad,
                    const AttentionGrads& grads) {
  check_inputs(rule, in);
  check<ShapeError>(out.shape == in.q.shape && grad.shape == in.q.shape &&
                        grads.q.shape == in.q.shape && grads.k.shape == in.k.shape &&
                        grads.v.shape == in.v.shape,
                    "attention: gradients of other shapes than the inputs'");
  MOIETY_CHECK(out.contiguous() && lse.contiguous() && grad.contiguous() && grads.q.contiguous() &&
               grads.k.contiguous() && grads.v.contiguous());
  check<ShapeError>(
      !grads.bias.defined() || (grads.bias.shape == in.bias.shape && grads.bias.contiguous()),
      "attention: a gradient of another shape than the bias's");
  run_staged<cpu::attention_grad, cuda::attention_grad>(stream, rule, reads(in), reads(out), lse,
                                                        reads(grad), writes(grads));
}

}  // namespace moiety::kernels
