// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_count.cuh"
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
    reduce_kernel(const Reducer reducer, const Tiles tiles, const RowCount count,
                  typename Reducer::Value* partial) {
  using Value = typename Reducer::Value;
  constexpr int kAtOnce = 4;  // elements that are on their way from memory
  MOIETY_SHARED(Value, values, [kTileThreads]);
  const bool inside = tiles.inside();
  const std::int64_t a = tiles.a();
  const std::int64_t b = inside ? tiles.b() : 0;
  auto running = reducer.begin(b);
  if (inside) {
    const std::int64_t step = tiles.row_step();
    const std::int64_t rows = count.of(tiles.rows);
    int groups = 0;
    for (std::int64_t begin = blockIdx.y * tiles.chunk; begin < rows;
         begin += tiles.chunks * tiles.chunk) {
      const std::int64_t end = begin + tiles.chunk < rows ? begin + tiles.chunk : rows;
      std::int64_t n = begin + tiles.row_place();
      std::int64_t u = (a * tiles.rows + n) * tiles.columns + b;
      for (; n + (kAtOnce - 1) * step < end; n += kAtOnce * step) {
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          reducer.take(running, u + k * step * tiles.columns, n + k * step);
        }
        u += kAtOnce * step * tiles.columns;
        if (++groups % (kRun / kAtOnce) == 0) reducer.settle(running);
      }
      // Fewer than kAtOnce, in the last chunk alone where there are several.
      for (; n < end; n += step, u += step * tiles.columns) reducer.take(running, u, n);
    }
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

/// Reduces what `tiles` share out, of whose rows `count` count; `merge` shares out the values of
/// their chunks.
template <class Reducer>
void reduce_tiles(const Stream& stream, const Reducer& reducer, const Tiles& tiles,
                  const RowCount& count, const Tiles& merge) {
  using Value = typename Reducer::Value;
  if (tiles.chunks == 1) {
    launch(reduce_kernel<Reducer>, tiles.threads(), stream, reducer, tiles, count, nullptr);
    return;
  }
  const std::int64_t results = tiles.outer * tiles.columns;
  const Storage storage(stream.device(),
                        static_cast<std::size_t>(tiles.chunks * results) * sizeof(Value));
  auto* partial = reinterpret_cast<Value*>(storage.data());
  launch(reduce_kernel<Reducer>, tiles.threads(), stream, reducer, tiles, count, partial);
  launch(reduce_kernel<MergeChunks<Reducer>>, merge.threads(), stream,
         MergeChunks<Reducer>{{}, reducer, partial}, merge, RowCount{}, nullptr);
}

/// Tiles for the values of the chunks of `tiles`, in an order that is the same for `chunks` of them
/// as for fewer. Few columns a block: there is little to read, and many blocks read it sooner.
template <class Reducer>
Tiles merge_tiles(const Tiles& tiles, std::int64_t chunks) {
  Tiles merge = whole_tiles(1, chunks, tiles.outer * tiles.columns, sizeof(typename Reducer::Value),
                            /*widest=*/4);
  merge.rows = tiles.chunks;
  merge.chunk = tiles.chunks;
  return merge;
}

/// Reduces [outer, rows, columns] elements of `bytes` each.
template <class Reducer>
void reduce_middle(const Stream& stream, const Reducer& reducer, std::int64_t outer,
                   std::int64_t rows, std::int64_t columns, std::int64_t bytes) {
  const Tiles tiles = chunked_tiles(outer, rows, columns, bytes);
  reduce_tiles(stream, reducer, tiles, {}, merge_tiles<Reducer>(tiles, tiles.chunks));
}

/// Reduces the rows that count of [rows, columns] elements, to the same bits whatever is behind
/// them. Op must leave a value as it is when the other one is the identity.
template <class Reducer>
void reduce_first_rows(const Stream& stream, const Reducer& reducer, std::int64_t rows,
                       std::int64_t columns, std::int64_t bytes, const RowCount& count) {
  const Tiles tiles = steady_tiles(rows, columns, bytes);
  reduce_tiles(stream, reducer, tiles, count, merge_tiles<Reducer>(tiles, kManyRows));
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
