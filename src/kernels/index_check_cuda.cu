// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/fault.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/index_check.h"

// What is wrong is reported; the host throws it at its next synchronisation.
namespace moiety::kernels::cuda {
namespace {

constexpr int kBlock = 256;

__device__ std::int64_t first_entry() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t entry_step() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

/// ptr[0] is 0, ptr[m] is at most ptr[m + 1], and no row is left after ptr[M]. ptr [M+1].
__global__ void check_ptr_kernel(const std::int32_t* __restrict__ ptr, std::int64_t segments,
                                 std::int64_t rows, FaultReport bad_entry, FaultReport bad_rest) {
  for (std::int64_t m = first_entry(); m <= segments; m += entry_step()) {
    const std::int64_t value = ptr[m];
    if (m == 0) bad_entry.check(value, 1, m);
    if (m < segments) {
      bad_entry.check(value, static_cast<std::int64_t>(ptr[m + 1]) + 1, m);
    } else {
      bad_rest.check(rows - value, 1, m);
    }
  }
}

__global__ void check_index_kernel(const std::int32_t* __restrict__ index, std::int64_t entries,
                                   std::int64_t limit, FaultReport bad_entry) {
  for (std::int64_t i = first_entry(); i < entries; i += entry_step()) {
    bad_entry.check(index[i], limit, i);
  }
}

}  // namespace

void check_ptr(const Stream& stream, const TensorView& ptr, std::int64_t rows,
               const char* operation, const char* name) {
  check<ShapeError>(ptr.ndim() == 1 && ptr.numel() >= 1 && ptr.contiguous(), operation, ": ", name,
                    " must be a contiguous [M+1] tensor, not ", ptr.shape);
  const std::string rest = concat("number of rows after ", name);
  launch(check_ptr_kernel, Threads(dim3(blocks_for(ptr.numel(), kBlock)), dim3(kBlock)), stream,
         ptr.as<std::int32_t>(), ptr.numel() - 1, rows, fault_report(stream, operation, name),
         fault_report(stream, operation, rest.c_str()));
}

void check_index(const Stream& stream, const TensorView& index, std::int64_t limit,
                 const char* operation, const char* name) {
  check<ShapeError>(index.contiguous(), operation, ": ", name, " must be contiguous");
  launch(check_index_kernel, Threads(dim3(blocks_for(index.numel(), kBlock)), dim3(kBlock)), stream,
         index.as<std::int32_t>(), index.numel(), limit, fault_report(stream, operation, name));
}

}  // namespace moiety::kernels::cuda
