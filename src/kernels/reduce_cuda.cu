// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/reduce_middle.cuh"
#include "kernels/cuda/running_softmax.cuh"
#include "kernels/reduce.h"

namespace moiety::kernels::cuda {
namespace {

/// x [A, N, B] against what it is reduced to, [A, B].
void check_shapes(const char* name, const TensorView& x, const TensorView& reduced) {
  MOIETY_CHECK(x.ndim() == 3 && reduced.shape == Shape({x.shape[0], x.shape[2]}) &&
                   x.contiguous() && reduced.contiguous(),
               name, ": ", x.shape, " and ", reduced.shape);
}

template <class F>
struct Place {
  F value;
  std::int32_t n;
};

/// The larger of two, of equal ones the first; NaN counts as largest.
struct FirstLargest {
  template <class Value>
  __device__ static Value identity() {
    return {static_cast<decltype(Value::value)>(-INFINITY), INT32_MAX};
  }
  template <class F>
  __device__ Place<F> operator()(const Place<F>& a, const Place<F>& b) const {
    const bool b_is_nan = b.value != b.value;
    const bool a_holds = a.value > b.value || (a.value != a.value && !b_is_nan);
    const bool b_wins = b.value > a.value || (b_is_nan && a.value == a.value);
    return b_wins || (!a_holds && b.n < a.n) ? b : a;
  }
};

template <class T>
struct MaxReducer : PlainReducer<Place<Compute<T>>, FirstLargest> {
  using Value = Place<Compute<T>>;
  const T* x;
  T* out;
  std::int32_t* index;

  __device__ void take(Value& best, std::int64_t u, std::int64_t n) const {
    best = FirstLargest{}(best, Value{widen(x[u]), static_cast<std::int32_t>(n)});
  }
  __device__ void finish(const Value& best, std::int64_t o) const {
    out[o] = narrow<T>(best.value);
    index[o] = best.n;
  }
};

template <class T>
struct LogSumExpReducer : PlainReducer<RunningSoftmax<Compute<T>>, JoinSoftmax> {
  using F = Compute<T>;
  const T* x;
  T* out;

  __device__ void take(RunningSoftmax<F>& running, std::int64_t u, std::int64_t) const {
    running.take(widen(x[u]));
  }
  __device__ void finish(const RunningSoftmax<F>& sum, std::int64_t o) const {
    // All -infinity (or no elements): shift by 0, so that the result is -infinity, not NaN.
    const F shift = sum.top == -static_cast<F>(INFINITY) ? F{0} : sum.top;
    out[o] = narrow<T>(shift + std::log(sum.total));
  }
};

/// out[a, b] = x[a, index[a, b], b], of `rows` rows.
template <class T>
__global__ void select_kernel(const T* __restrict__ x, const std::int32_t* __restrict__ index,
                              const Tiles tiles, std::int64_t rows, T* __restrict__ out) {
  if (!tiles.inside()) return;
  const std::int64_t o = tiles.a() * tiles.columns + tiles.b();
  out[o] = x[(tiles.a() * rows + index[o]) * tiles.columns + tiles.b()];
}

template <class T>
__global__ void place_kernel(const T* __restrict__ x, const std::int32_t* __restrict__ index,
                             const Tiles tiles, T* __restrict__ out) {
  if (!tiles.inside()) return;
  const std::int64_t o = tiles.a() * tiles.columns + tiles.b();
  const std::int64_t at = index[o];
  const T value = x[o];
  T* column = out + tiles.a() * tiles.rows * tiles.columns + tiles.b();
  for (std::int64_t n = tiles.first_row(); n < tiles.end_row(); n += tiles.row_step()) {
    column[n * tiles.columns] = n == at ? value : narrow<T>(0);
  }
}

}  // namespace

void max(const Stream& stream, const TensorView& x, const TensorView& out,
         const TensorView& index) {
  check_shapes("max", x, out);
  check_shapes("max", x, index);
  MOIETY_CHECK(x.shape[1] > 0, "max over no elements");
  visit_floating(x.dtype, [&]<class T>() {
    const MaxReducer<T> reducer{{}, x.as<T>(), out.as<T>(), index.as<std::int32_t>()};
    reduce_middle(stream, reducer, x.shape[0], x.shape[1], x.shape[2], sizeof(T));
  });
}

void select(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out) {
  check_shapes("select", x, out);
  check_shapes("select", x, index);
  visit_floating(x.dtype, [&]<class T>() {
    const Tiles tiles = whole_tiles(x.shape[0], 1, x.shape[2], sizeof(T));
    launch(select_kernel<T>, tiles.threads(), stream, x.as<T>(), index.as<std::int32_t>(), tiles,
           x.shape[1], out.as<T>());
  });
}

void place(const Stream& stream, const TensorView& x, const TensorView& index,
           const TensorView& out) {
  check_shapes("place", out, x);
  check_shapes("place", out, index);
  visit_floating(x.dtype, [&]<class T>() {
    const Tiles tiles = chunked_tiles(out.shape[0], out.shape[1], out.shape[2], sizeof(T));
    launch(place_kernel<T>, tiles.threads(), stream, x.as<T>(), index.as<std::int32_t>(), tiles,
           out.as<T>());
  });
}

void log_sum_exp(const Stream& stream, const TensorView& x, const TensorView& out) {
  check_shapes("log_sum_exp", x, out);
  visit_floating(x.dtype, [&]<class T>() {
    const LogSumExpReducer<T> reducer{{}, x.as<T>(), out.as<T>()};
    reduce_middle(stream, reducer, x.shape[0], x.shape[1], x.shape[2], sizeof(T));
  });
}

}  // namespace moiety::kernels::cuda
