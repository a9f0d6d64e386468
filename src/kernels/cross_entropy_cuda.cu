// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernels/cross_entropy.h"
#include "kernels/cuda/fault.cuh"
#include "kernels/cuda/row_packs.cuh"

namespace moiety::kernels::cuda {
namespace {

/// The teams of a block take a row each. `dscores` may be null, or the scores themselves: a thread
/// writes only the elements that it has read for the last time.
template <class T, int kCount, int kPacks>
__global__ void __launch_bounds__(kRowBlock, 1)
    cross_entropy_kernel(std::int64_t rows, std::int64_t columns, const T* scores,
                         const std::int32_t* __restrict__ target, FaultReport bad_target,
                         Compute<T>* __restrict__ loss, T* dscores) {
  using F = Compute<T>;
  const RowTeam<T, kCount, kPacks> team(rows, columns);
  const bool exists = team.row() < rows;
  const std::int32_t label = exists ? target[team.row()] : -1;
  const bool counts =
      label >= 0 && bad_target.check(label, static_cast<long long>(columns), team.row());
  const F score = counts ? widen(scores[team.row() * columns + label]) : F{0};
  const RowPacks<T, kCount, kPacks> in(team, scores, exists ? team.row() : 0,
                                       -static_cast<F>(INFINITY));
  const F top = row_top(team, in);
  const auto total = row_exponentials(team, in, top);
  __syncwarp();  // all have read the label's score by now; shuffles alone do not order memory
  const F lse = top + static_cast<F>(std::log(total));
  if (exists && threadIdx.x == 0) loss[team.row()] = counts ? lse - score : F{0};
  if (dscores == nullptr) return;
#pragma unroll
  for (int p = 0; p < team.packs(); ++p) {
    auto pack = in.get(team, p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const F share = std::exp(pack.v[i] - lse);
      pack.v[i] = !counts ? F{0} : team.column(p) + i == label ? share - F{1} : share;
    }
    if (team.has(p)) pack.store(dscores + team.place(p));
  }
}

}  // namespace

void cross_entropy(const Stream& stream, const TensorView& scores, const TensorView& target,
                   const TensorView& loss, const TensorView& dscores) {
  const std::int64_t rows = scores.size(0);
  const std::int64_t columns = scores.size(1);
  if (rows == 0) return;
  const FaultReport bad_target = fault_report(stream, "cross_entropy", "target");
  visit_floating(scores.dtype, [&]<class T>() {
    const T* from = scores.as<T>();
    T* to = dscores.defined() ? dscores.as<T>() : nullptr;
    visit_width<T>(
        columns,
        [&]<int kCount>() {
          visit_row_packs<kCount>(rows, columns, [&]<int kPacks>(const Threads& threads) {
            launch(cross_entropy_kernel<T, kCount, kPacks>, threads, stream, rows, columns, from,
                   target.as<std::int32_t>(), bad_target, loss.as<Compute<T>>(), to);
          });
        },
        from, to);
  });
}

}  // namespace moiety::kernels::cuda
