// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/tiles.cuh"
#include "tensor/storage.h"

// Reductions over the middle dimension of [A, N, B], in an order that the shape fixes. Where A B is
// small, blocks reduce chunks of N first and a second kernel merges their values. What is reduced
// is said by a Reducer, a plain struct with
//   Value, Op            what is merged, and how: Op::identity<Value>() and op(Value, Value)
//   Running begin(b)     what a thread of column b keeps while it walks
//   take(running, u, n)  adds element number u of [A, N, B], whose row is n
//   settle(running)      comes after at most kRun elements
//   Value value(running)
//   finish(value, o)     writes result number o of [A, B]
// An "element" may stand for several elements of a tensor that are read at once. For .cu files
// alone.
namespace moiety::kernels::cuda {

inline constexpr int kRun = 16;

template <class Reducer>
__global__ void __launch_bounds__(kTileThreads, 1)
    reduce_kernel(const Reducer reducer, const Tiles tiles, typename Reducer::Value* partial) {
  using Value = typename Reducer::Value;
  constexpr int kAtOnce = 4;  // elements that are on their way from memory
  MOIETY_SHARED(Value, values, [kTileThreads]);
  const bool inside = tiles.inside();
  const std::int64_t a = tiles.a();
  const std::int64_t b = inside ? tiles.b() : 0;
  auto running = reducer.begin(b);
  if (inside) {
    const std::int64_t step = tiles.row_step();
    const std::int64_t end = tiles.end_row();
    std::int64_t n = tiles.first_row();
    std::int64_t u = (a * tiles.rows + n) * tiles.columns + b;
    for (int group = 1; n + (kAtOnce - 1) * step < end; ++group) {
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        reducer.take(running, u + k * step * tiles.columns, n + k * step);
      }
      n += kAtOnce * step;
      u += kAtOnce * step * tiles.columns;
      if (group % (kRun / kAtOnce) == 0) reducer.settle(running);
    }
    for (; n < end; n += step, u += step * tiles.columns) reducer.take(running, u, n);
    reducer.settle(running);
  }
  const Value value = merge_rows(tiles, reducer.value(running), typename Reducer::Op{}, values);
  if (!inside || tiles.row_place() != 0) return;
  const std::int64_t o = a * tiles.columns + b;
  if (partial == nullptr) {
    reducer.finish(value, o);
  } else {
    partial[blockIdx.y * tiles.outer * tiles.columns + o] = value;
  }
}

/// A reducer that keeps nothing but the value itself.
template <class V, class O>
struct PlainReducer {
  using Value = V;
  using Op = O;
  __device__ Value begin(std::int64_t) const { return Op::template identity<Value>(); }
  __device__ void settle(Value&) const {}
  __device__ Value value(const Value& running) const { return running; }
};

/// The second step: the values of the chunks, [chunks, A B].
template <class Reducer>
struct MergeChunks : PlainReducer<typename Reducer::Value, typename Reducer::Op> {
  using Value = typename Reducer::Value;
  Reducer reducer;
  const Value* partial;

  __device__ void take(Value& running, std::int64_t u, std::int64_t) const {
    running = typename Reducer::Op{}(running, partial[u]);
  }
  __device__ void finish(const Value& value, std::int64_t o) const { reducer.finish(value, o); }
};

/// Reduces [outer, rows, columns] elements of `bytes` each.
template <class Reducer>
void reduce_middle(const Stream& stream, const Reducer& reducer, std::int64_t outer,
                   std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
  using Value = typename Reducer::Value;
  const Tiles tiles = chunked_tiles(outer, rows, columns, bytes);
  if (tiles.chunks == 1) {
    launch(reduce_kernel<Reducer>, tiles.threads(), stream, reducer, tiles, nullptr);
    return;
  }
  const std::int64_t results = outer * columns;
  const Storage storage(stream.device(),
                        static_cast<std::size_t>(tiles.chunks * results) * sizeof(Value));
  auto* partial = reinterpret_cast<Value*>(storage.data());
  launch(reduce_kernel<Reducer>, tiles.threads(), stream, reducer, tiles, partial);
  // Few columns a block: there is little to read, and many blocks read it sooner.
  const Tiles merge = whole_tiles(1, tiles.chunks, results, sizeof(Value), /*widest=*/4);
  launch(reduce_kernel<MergeChunks<Reducer>>, merge.threads(), stream,
         MergeChunks<Reducer>{{}, reducer, partial}, merge, nullptr);
}

/// Sums, in f64.
template <int kSums>
struct alignas(kSums % 2 == 0 ? 16 : 8) Sums {
  double v[kSums];
};

struct AddSums {
  template <class Value>
  __device__ static Value identity() {
    return Value{};
  }
  template <int kSums>
  __device__ Sums<kSums> operator()(Sums<kSums> a, const Sums<kSums>& b) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) a.v[i] += b.v[i];
    return a;
  }
};

/// What reducers that add up kSums terms share: runs of at most kRun terms are added in F, and
/// these in f64.
template <class F, int kSums>
struct SumReducer {
  using Value = Sums<kSums>;
  using Op = AddSums;
  struct Running {
    F run[kSums];
    Value total;
  };
  __device__ Running begin(std::int64_t) const { return {}; }
  __device__ void settle(Running& running) const {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      running.total.v[i] += static_cast<double>(running.run[i]);
      running.run[i] = 0;
    }
  }
  __device__ Value value(const Running& running) const { return running.total; }
};

}  // namespace moiety::kernels::cuda
