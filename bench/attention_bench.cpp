// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/attention.h"
#include "support/suite.h"

namespace moiety::bench {
namespace {

struct Extents {
  std::int64_t sequences;
  std::int64_t length;
  std::int64_t heads;
  std::int64_t width;
  bool causal;
};

/// Operands of self-attention, all [tokens, heads, width].
struct Operands {
  Operands(Device& device, const Extents& e, DType dtype)
      : q(make_input(device, shape_of(e), dtype)),
        k(make_input(device, shape_of(e), dtype)),
        v(make_input(device, shape_of(e), dtype)),
        grad(make_input(device, shape_of(e), dtype)),
        out(make_input(device, shape_of(e), dtype)),
        dq(Tensor::empty(shape_of(e), dtype, device)),
        dk(Tensor::empty(shape_of(e), dtype, device)),
        dv(Tensor::empty(shape_of(e), dtype, device)),
        lse(make_input(device, {e.sequences * e.length, e.heads}, DType::f32)) {
    std::vector<std::int32_t> begins;
    for (std::int64_t b = 0; b <= e.sequences; ++b) {
      begins.push_back(static_cast<std::int32_t>(b * e.length));
    }
    ptr = Tensor::from(begins, {e.sequences + 1}, device);
    rule.scale = 1 / std::sqrt(static_cast<double>(e.width));
    rule.causal = e.causal;
  }
  static Shape shape_of(const Extents& e) { return {e.sequences * e.length, e.heads, e.width}; }
  kernels::AttentionInputs inputs() const { return {q, k, v, ptr, ptr, {}}; }

  Tensor q, k, v, grad, out, dq, dk, dv, lse, ptr;
  kernels::AttentionRule rule;
};

/// Products of the pairs: two forwards, five backwards, which makes the scores anew.
void add_attention(Suite& suite, Extents e, DType dtype) {
  e.sequences = suite.sized(e.sequences, 2);
  e.length = suite.sized(e.length, 40);
  e.heads = suite.sized(e.heads, 2);
  const auto elements = static_cast<double>(e.sequences * e.length * e.heads * e.width);
  const double pairs = static_cast<double>(e.length) * (e.causal ? 0.5 : 1.0);
  const double rows = 4 * static_cast<double>(e.sequences * e.length * e.heads);
  const auto library =
      suite.options().cudnn ? kernels::AttentionLibrary::cudnn : kernels::AttentionLibrary::own;
  const auto work = [&](double arrays, double products) -> Work {
    return {.bytes = arrays * bytes_of(dtype) * elements + rows,
            .flops = products * 2 * elements * pairs,
            .arithmetic = dtype == DType::bf16 ? Arithmetic::bf16 : Arithmetic::f32};
  };
  const std::string shape = std::to_string(e.sequences) + "x" + std::to_string(e.length) + "x" +
                            std::to_string(e.heads) + "x" + std::to_string(e.width) +
                            (e.causal ? "_causal" : "");
  suite.add("attention/forward/" + shape, dtype, work(4, 2), [=](Device& device) {
    Operands o(device, e, dtype);
    o.rule.row_stride = e.length;
    o.rule.library = library;
    return [=, &device] { kernels::attention(device.stream(), o.rule, o.inputs(), o.out, o.lse); };
  });
  suite.add("attention/backward/" + shape, dtype, work(8, 5), [=](Device& device) {
    const Operands o(device, e, dtype);
    return [=, &device] {
      kernels::attention_grad(device.stream(), o.rule, o.inputs(), o.out, o.lse, o.grad,
                              {o.dq, o.dk, o.dv, {}});
    };
  });
}

}  // namespace

void add_attention(Suite& suite) {
  for (const DType dtype : suite.dtypes()) {
    add_attention(suite, {8, 128, 12, 32, false}, dtype);   // masked language model
    add_attention(suite, {8, 256, 12, 32, true}, dtype);    // causal language model
    add_attention(suite, {256, 20, 12, 32, false}, dtype);  // SMILES of their real lengths
    add_attention(suite, {4, 512, 8, 64, true}, dtype);
  }
}

}  // namespace moiety::bench
