// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "tensor/stream.h"
#include "tensor/view.h"

// One element at a time. Inputs may be strided views; outputs are contiguous and may be an input
// that is itself contiguous and of the same shape. f32 and f64 unless said otherwise; a GPU
// takes bf16 and f16 as well, which it computes in f32.
namespace moiety::kernels {

enum class UnaryOp : std::uint8_t {
  abs,
  square,
  sqrt,
  exp,
  log,
  sin,
  cos,
  relu,
  sigmoid,
  tanh,
  silu,
  gelu,
  gelu_tanh,
  softplus,
  normal_cdf,
  step,
  sign
};

enum class BinaryOp : std::uint8_t {
  add,
  sub,
  mul,
  div,
  maximum,
  minimum,
  greater_equal,  ///< 1 where a >= b, else 0
};

/// out = op(x); x and out of one shape.
void unary(const Stream& stream, UnaryOp op, const TensorView& x, const TensorView& out);

/// out = grad * op'(.): the derivative is taken from the output of the operation for exp, sqrt,
/// relu, sigmoid and tanh, and from its input for silu, gelu, gelu_tanh and softplus; Error for the
/// rest. saved and grad of one shape with out.
void unary_grad(const Stream& stream, UnaryOp op, const TensorView& saved, const TensorView& grad,
                const TensorView& out);

/// out = op(a, b), where a and b broadcast to out's shape.
void binary(const Stream& stream, BinaryOp op, const TensorView& a, const TensorView& b,
            const TensorView& out);

/// out = scale * x + shift.
void affine(const Stream& stream, double scale, double shift, const TensorView& x,
            const TensorView& out);

/// out = x^exponent.
void pow(const Stream& stream, double exponent, const TensorView& x, const TensorView& out);

/// Sets all elements of `out`, which may be of any dtype.
void fill(const Stream& stream, const TensorView& out, double value);

/// into += from, of one shape.
void accumulate(const Stream& stream, const TensorView& from, const TensorView& into);

/// The same for many pairs of contiguous views of one floating dtype, which a GPU adds in one
/// launch or few: each by itself would cost more than the addition.
void accumulate_all(const Stream& stream, std::span<const TensorView> from,
                    std::span<const TensorView> into);

/// out = x where x broadcasts to out's shape; any dtype.
void copy(const Stream& stream, const TensorView& x, const TensorView& out);

/// out = x converted; both contiguous, of one shape and of any floating dtype.
void cast(const Stream& stream, const TensorView& x, const TensorView& out);

// The bodies, one a device.
namespace cpu {
decltype(kernels::unary) unary;
decltype(kernels::unary_grad) unary_grad;
decltype(kernels::binary) binary;
decltype(kernels::affine) affine;
decltype(kernels::pow) pow;
decltype(kernels::fill) fill;
decltype(kernels::accumulate) accumulate;
decltype(kernels::accumulate_all) accumulate_all;
decltype(kernels::copy) copy;
decltype(kernels::cast) cast;
}  // namespace cpu
namespace cuda {
decltype(kernels::unary) unary;
decltype(kernels::unary_grad) unary_grad;
decltype(kernels::binary) binary;
decltype(kernels::affine) affine;
decltype(kernels::pow) pow;
decltype(kernels::fill) fill;
decltype(kernels::accumulate) accumulate;
decltype(kernels::accumulate_all) accumulate_all;
decltype(kernels::copy) copy;
decltype(kernels::cast) cast;
}  // namespace cuda

}  // namespace moiety::kernels
