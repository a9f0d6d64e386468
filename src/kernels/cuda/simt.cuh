// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every .cu file includes first: CUDA's types and intrinsics, from the toolkit or, where there
// is none, from the emulator (tests/simt), which runs the same sources on a CPU. Shared memory is
// declared with these two macros, so that the emulator can give it its exact size and poison it.
#include <cuda_runtime.h>

#if !defined(MOIETY_SIMT_EMULATED)
/// MOIETY_SHARED(float, tile, [32][33]);
#define MOIETY_SHARED(T, name, ...) __shared__ T name __VA_ARGS__
/// Bytes whose number the launch names, aligned for any vector type.
#define MOIETY_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#endif

namespace moiety::kernels::cuda {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

}  // namespace moiety::kernels::cuda
