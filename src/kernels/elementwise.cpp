// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

namespace moiety::kernels {

void unary(const Stream& stream, UnaryOp op, const TensorView& x, const TensorView& out) {
  run_on<cpu::unary, cuda::unary>(stream, op, x, out);
}

void unary_grad(const Stream& stream, UnaryOp op, const TensorView& saved, const TensorView& grad,
                const TensorView& out) {
  run_on<cpu::unary_grad, cuda::unary_grad>(stream, op, saved, grad, out);
}

void binary(const Stream& stream, BinaryOp op, const TensorView& a, const TensorView& b,
            const TensorView& out) {
  run_on<cpu::binary, cuda::binary>(stream, op, a, b, out);
}

void affine(const Stream& stream, double scale, double shift, const TensorView& x,
            const TensorView& out) {
  run_on<cpu::affine, cuda::affine>(stream, scale, shift, x, out);
}

void pow(const Stream& stream, double exponent, const TensorView& x, const TensorView& out) {
  run_on<cpu::pow, cuda::pow>(stream, exponent, x, out);
}

void fill(const Stream& stream, const TensorView& out, double value) {
  run_on<cpu::fill, cuda::fill>(stream, out, value);
}

void accumulate(const Stream& stream, const TensorView& from, const TensorView& into) {
  run_on<cpu::accumulate, cuda::accumulate>(stream, from, into);
}

void accumulate_all(const Stream& stream, std::span<const TensorView> from,
                    std::span<const TensorView> into) {
  check<ShapeError>(from.size() == into.size(), "accumulate_all: ", from.size(), " into ",
                    into.size(), " tensors");
  for (std::size_t i = 0; i < from.size(); ++i) {
    check<ShapeError>(from[i].shape == into[i].shape, "accumulate_all: ", from[i].shape, " into ",
                      into[i].shape);
    MOIETY_CHECK(from[i].contiguous() && into[i].contiguous() && from[i].dtype == into[0].dtype &&
                 into[i].dtype == into[0].dtype);
  }
  run_on<cpu::accumulate_all, cuda::accumulate_all>(stream, from, into);
}

void copy(const Stream& stream, const TensorView& x, const TensorView& out) {
  run_on<cpu::copy, cuda::copy>(stream, x, out);
}

void cast(const Stream& stream, const TensorView& x, const TensorView& out) {
  run_on<cpu::cast, cuda::cast>(stream, x, out);
}

}  // namespace moiety::kernels
