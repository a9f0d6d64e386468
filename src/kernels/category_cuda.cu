// SPDX-License-Identifier: Apache-2.0
#include "kernels/category.h"
#include "kernels/cuda/features.cuh"
#include "kernels/cuda/launch.cuh"

namespace moiety::kernels::cuda {
namespace {

constexpr int kBlock = 256;

/// A thread numbers the combination of one row, continuing the number of the features before the
/// group; a value out of range counts as 0. attr [rows, stride], out [rows].
__global__ void combine_categories_kernel(const std::int32_t* __restrict__ attr, FeatureGroup group,
                                          FaultReport bad_value, std::int64_t rows,
                                          std::int32_t* __restrict__ out) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; e < rows;
       e += step) {
    std::int32_t number = group.begin > 0 ? out[e] : 0;
    bool valid = true;
    for (int f = 0; f < group.count; ++f) {
      const std::int32_t value = group.value(attr, e, f);
      valid &= group.contains(value, f);
      number = number * group.dims[f] + (group.contains(value, f) ? value : 0);
    }
    if (!valid) group.report(attr, e, bad_value);
    out[e] = number;
  }
}

}  // namespace

void combine_categories(const Stream& stream, const TensorView& attr,
                        const std::vector<std::int32_t>& dims, const TensorView& out) {
  const auto features = static_cast<std::int64_t>(dims.size());
  MOIETY_CHECK(attr.ndim() == 2 && attr.shape[1] == features && attr.contiguous());
  MOIETY_CHECK(out.numel() == attr.shape[0] && out.contiguous());
  const std::int64_t rows = attr.shape[0];
  const FaultReport bad_value = fault_report(stream, "combine_categories", "attr");
  for_each_feature_group(dims, [&](const FeatureGroup& group, std::int64_t) {
    launch(combine_categories_kernel, Threads(dim3(blocks_for(rows, kBlock)), dim3(kBlock)), stream,
           attr.as<std::int32_t>(), group, bad_value, rows, out.as<std::int32_t>());
  });
}

}  // namespace moiety::kernels::cuda
