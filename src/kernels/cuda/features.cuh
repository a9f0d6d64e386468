// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cuda/fault.cuh"
#include "kernels/cuda/simt.cuh"

// Categorical features as kernels see them. For .cu files alone.
namespace moiety::kernels::cuda {

/// Features begin .. begin + count of the `stride` that a row of `index` has, as a parameter of a
/// kernel: their sizes need no copy to the device.
struct FeatureGroup {
  static constexpr int kMost = 64;
  std::int64_t stride = 0;
  std::int64_t begin = 0;
  std::int64_t table_rows = 0;  ///< of these features
  std::int64_t first[kMost]{};  ///< first of them that feature f owns
  std::int32_t dims[kMost]{};   ///< how many it owns
  int count = 0;

  /// Feature f of row n.
  __device__ std::int32_t value(const std::int32_t* __restrict__ index, std::int64_t n,
                                int f) const {
    return index[n * stride + begin + f];
  }
  __device__ bool contains(std::int32_t value, int f) const {
    return value >= 0 && value < dims[f];
  }
  /// Reports the values of row n that are out of range.
  __device__ void report(const std::int32_t* __restrict__ index, std::int64_t n,
                         const FaultReport& bad_index) const {
    for (int f = 0; f < count; ++f) {
      bad_index.check(value(index, n, f), dims[f], n * stride + begin + f);
    }
  }
};

/// Calls f(group, first_table_row) for all features in order, at least once.
template <class F>
void for_each_feature_group(const std::vector<std::int32_t>& dims, const F& f) {
  const auto features = static_cast<std::int64_t>(dims.size());
  std::int64_t first_row = 0;
  std::int64_t begin = 0;
  do {
    FeatureGroup group;
    group.stride = features;
    group.begin = begin;
    for (; group.count < FeatureGroup::kMost && begin < features; ++begin, ++group.count) {
      group.first[group.count] = group.table_rows;
      group.dims[group.count] = dims[static_cast<std::size_t>(begin)];
      group.table_rows += group.dims[group.count];
    }
    f(group, first_row);
    first_row += group.table_rows;
  } while (begin < features);
}

}  // namespace moiety::kernels::cuda
