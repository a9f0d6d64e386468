// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "kernels/cpu_float_runs.h"
#include "kernels/elementwise.h"

namespace moiety::kernels::cpu {
namespace {

template <class T, class F>
[[gnu::noinline]] void map_run(F f, const T* x, std::int64_t stride, T* y, std::int64_t count) {
  if (stride == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) y[i] = f(x[i * stride]);
  }
}

/// out[i] = f(x[i]) for a strided x.
template <class T, class F>
void map(const Stream& stream, const TensorView& x, const TensorView& out, const F& f) {
  MOIETY_CHECK(x.shape == out.shape && out.contiguous(), x.shape, " to ", out.shape);
  const LoopNest<1> nest(out.shape, {&x});
  for_each_float_run<T, 1>(stream, nest, {&x}, out,
                           [&](const auto& in, const auto& stride, T* to, std::int64_t count) {
                             map_run(f, in[0], stride[0], to, count);
                           });
}

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, Float16>) {
    return to_float16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// Unsigned integers of an element's size: copies need no more than that.
template <class F>
void visit_size(std::size_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    default:
      return f.template operator()<std::uint64_t>();
  }
}

template <class T>
void copy_run(const T* from, std::int64_t stride, T* to, std::int64_t count) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  } else if (stride == 0) {
    std::fill_n(to, count, *from);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  }
}

/// Whether the last two dimensions are a transposed matrix, for which row by row would read one
/// element a cache line.
bool is_transposed(const LoopNest<1>& nest) {
  return nest.ndim >= 2 && nest.strides[nest.ndim - 2][0] == 1 && nest.inner_stride(0) > 1;
}

/// Copies the transposed matrix of each outer index in square tiles that stay in cache.
template <class T>
void copy_transposed(const Stream& stream, const LoopNest<1>& nest, const T* from, T* to) {
  constexpr std::int64_t kTile = 16;
  const std::int64_t columns = nest.inner();
  const std::int64_t lines = nest.extents[nest.ndim - 2];
  const std::int64_t ld = nest.inner_stride(0);
  const std::int64_t bands = (lines + kTile - 1) / kTile;
  const std::int64_t matrices = nest.rows() / lines;
  parallel_for(stream, matrices * bands, row_grain(columns * kTile),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t task = begin; task < end; ++task) {
                   const std::int64_t first = task % bands * kTile;
                   const std::int64_t last = std::min(lines, first + kTile);
                   const std::int64_t row = task / bands * lines + first;
                   std::array<std::int64_t, kMaxDims> index{};
                   const T* source = from + nest.locate(row, index)[0];
                   T* target = to + row * columns;
                   for (std::int64_t c0 = 0; c0 < columns; c0 += kTile) {
                     const std::int64_t c1 = std::min(columns, c0 + kTile);
                     for (std::int64_t r = 0; r < last - first; ++r) {
                       for (std::int64_t c = c0; c < c1; ++c) {
                         target[r * columns + c] = source[r + c * ld];
                       }
                     }
                   }
                 }
               });
}

/// n consecutive elements of a floating dtype as floats: where they lie, or in `buffer`.
const float* floats_of(const TensorView& x, std::int64_t first, std::int64_t n, float* buffer) {
  if (x.dtype == DType::f32) return x.as<float>() + first;
  if (x.dtype == DType::f64) {
    const double* from = x.as<double>() + first;
    for (std::int64_t i = 0; i < n; ++i) buffer[i] = static_cast<float>(from[i]);
  } else {
    widen(x.dtype, static_cast<const std::uint16_t*>(x.data) + first, n, buffer);
  }
  return buffer;
}

void store_floats(const float* from, std::int64_t n, const TensorView& out, std::int64_t first) {
  if (is_half(out.dtype)) {
    return narrow(from, n, out.dtype, static_cast<std::uint16_t*>(out.data) + first);
  }
  visit_float(out.dtype, [&]<class T> {
    T* to = out.as<T>() + first;
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
  });
}

}  // namespace

void affine(const Stream& stream, double scale, double shift, const TensorView& x,
            const TensorView& out) {
  visit_compute(out.dtype, [&]<class T> {
    const T a = static_cast<T>(scale);
    const T b = static_cast<T>(shift);
    map<T>(stream, x, out, [a, b](T v) { return a * v + b; });
  });
}

void pow(const Stream& stream, double exponent, const TensorView& x, const TensorView& out) {
  visit_compute(out.dtype, [&]<class T> {
    const T p = static_cast<T>(exponent);
    if (exponent == -0.5) {
      map<T>(stream, x, out, [](T v) { return T(1) / std::sqrt(v); });
    } else if (exponent == -1.0) {
      map<T>(stream, x, out, [](T v) { return T(1) / v; });
    } else if (exponent == 2.0) {
      map<T>(stream, x, out, [](T v) { return v * v; });
    } else if (exponent == 3.0) {
      map<T>(stream, x, out, [](T v) { return v * v * v; });
    } else {
      map<T>(stream, x, out, [p](T v) { return std::pow(v, p); });
    }
  });
}

void fill(const Stream& stream, const TensorView& out, double value) {
  MOIETY_CHECK(out.contiguous(), "fill: strided output");
  visit_any(out.dtype, [&]<class T> {
    T* to = static_cast<T*>(out.data);
    const T element = from_double<T>(value);
    parallel_for(stream, out.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
      std::fill(to + begin, to + end, element);
    });
  });
}

void accumulate(const Stream& stream, const TensorView& from, const TensorView& into) {
  MOIETY_CHECK(from.shape == into.shape, "accumulate: ", from.shape, " into ", into.shape);
  cpu::binary(stream, BinaryOp::add, into, from, into);
}

void accumulate_all(const Stream& stream, std::span<const TensorView> from,
                    std::span<const TensorView> into) {
  for (std::size_t i = 0; i < from.size(); ++i) cpu::accumulate(stream, from[i], into[i]);
}

void copy(const Stream& stream, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.dtype == out.dtype && out.contiguous(), "copy: other dtype or strided output");
  if (out.numel() == 0) return;
  const LoopNest<1> nest(out.shape, {&x});
  visit_size(size_of(x.dtype), [&]<class T> {
    const T* from = static_cast<const T*>(x.data);
    T* to = static_cast<T*>(out.data);
    if (is_transposed(nest)) return copy_transposed(stream, nest, from, to);
    for_each_run(stream, nest, [&](std::int64_t at, const auto& in, std::int64_t count) {
      copy_run(from + in[0], nest.inner_stride(0), to + at, count);
    });
  });
}

void cast(const Stream& stream, const TensorView& x, const TensorView& out) {
  MOIETY_CHECK(x.shape == out.shape && x.contiguous() && out.contiguous(), "cast: ", x.shape,
               " to ", out.shape);
  check<DTypeError>(is_floating(x.dtype) && is_floating(out.dtype),
                    "cast takes floating dtypes, not ", x.dtype, " and ", out.dtype);
  if (x.dtype == out.dtype) return cpu::copy(stream, x, out);
  parallel_for(stream, x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    if (out.dtype == DType::f32 && is_half(x.dtype)) {
      return widen(x.dtype, static_cast<const std::uint16_t*>(x.data) + begin, end - begin,
                   out.as<float>() + begin);
    }
    std::array<float, kHalfRun> buffer;
    for (std::int64_t at = begin; at < end; at += kHalfRun) {
      const std::int64_t n = std::min(kHalfRun, end - at);
      store_floats(floats_of(x, at, n, buffer.data()), n, out, at);
    }
  });
}

}  // namespace moiety::kernels::cpu
