// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/edge_sum.cuh"
#include "kernels/gather.h"

namespace moiety::kernels::cuda {
namespace {

/// A team copies one row of out, a word a thread; zeros for an index that is out of range.
/// x [rows, words], index [entries], out [entries, words].
template <class Word>
__global__ void gather_kernel(const Word* __restrict__ x, const std::int32_t* __restrict__ index,
                              std::int64_t rows, std::int64_t entries, std::int64_t words,
                              FaultReport bad_index, Word* __restrict__ out) {
  const std::int64_t e = team_row();
  const std::int64_t w = team_column(1);
  if (e >= entries || w >= words) return;
  const std::int64_t row = index[e];
  out[e * words + w] = bad_index.check(row, rows, e) ? x[row * words + w] : Word{};
}

template <class Word>
void gather_words(const Stream& stream, const TensorView& x, const TensorView& index,
                  const TensorView& out) {
  const std::int64_t entries = index.numel();
  const std::int64_t words =
      x.shape[1] * static_cast<std::int64_t>(size_of(x.dtype)) / sizeof(Word);
  launch(gather_kernel<Word>, row_threads(entries, words, 1), stream,
         static_cast<const Word*>(x.data), index.as<std::int32_t>(), x.shape[0], entries, words,
         fault_report(stream, "gather", "index"), static_cast<Word*>(out.data));
}

/// The messages of scatter_sum: row e of values [E, C].
template <class T>
struct RowMessage : MessageDefaults<T> {
  const T* values;
  std::int64_t columns;

  template <int kCount>
  __device__ bool add(const EdgeLists::Edge& edge, std::int64_t c, const Pack<T, kCount>&,
                      Pack<T, kCount>& sum) const {
    Pack<T, kCount> term;
    term.load(values + edge.number * columns + c);
#pragma unroll
    for (int i = 0; i < kCount; ++i) sum.v[i] += term.v[i];
    return true;
  }
};

}  // namespace

void gather(const Stream& stream, const TensorView& x, const TensorView& index,
            const TensorView& out) {
  visit_floating(x.dtype, [&]<class T>() {
    visit_width<T>(
        x.shape[1],
        [&]<int kCount>() {
          if constexpr (kCount > 1) {
            gather_words<uint4>(stream, x, index, out);
          } else {
            gather_words<T>(stream, x, index, out);
          }
        },
        x.as<T>(), out.as<T>());
  });
}

void scatter_sum(const Stream& stream, const TensorView& values, const TensorView& ptr,
                 const TensorView& order, const TensorView& out) {
  const std::int64_t columns = out.shape[1];
  const FaultReport bad_order = fault_report(stream, "scatter_sum", "order");
  const EdgeLists lists{ptr.as<std::int32_t>(),
                        order.as<std::int32_t>(),
                        nullptr,
                        out.shape[0],
                        order.numel(),
                        fault_report(stream, "scatter_sum", "ptr"),
                        bad_order,
                        bad_order};
  visit_floating(values.dtype, [&]<class T>() {
    const RowMessage<T> message{{}, values.as<T>(), columns};
    visit_width<T>(
        columns,
        [&]<int kCount>() { sum_edges<T, kCount>(stream, lists, message, columns, out.as<T>()); },
        values.as<T>(), out.as<T>());
  });
}

}  // namespace moiety::kernels::cuda
