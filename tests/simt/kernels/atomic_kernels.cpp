// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "kernels.h"

namespace simt_test {
namespace {

template <class T>
__global__ void atomic_kernel(Atomic kind, const T* values, T* target, T* old) {
  const unsigned i = threadIdx.x;
  const T value = values[i];
  T got{};
  if constexpr (!std::same_as<T, long long>) {
    if (kind == Atomic::add) got = atomicAdd(target, value);
  }
  if constexpr (simt::Integer32<T>) {
    if (kind == Atomic::subtract) got = atomicSub(target, value);
  }
  if constexpr (simt::AtomicOrdered<T>) {
    if (kind == Atomic::smallest) got = atomicMin(target, value);
    if (kind == Atomic::largest) got = atomicMax(target, value);
  }
  if constexpr (simt::AtomicExchanged<T>) {
    if (kind == Atomic::exchange) got = atomicExch(target, value);
  }
  if constexpr (simt::AtomicBits<T>) {
    if (kind == Atomic::bits_and) got = atomicAnd(target, value);
    if (kind == Atomic::bits_or) got = atomicOr(target, value);
    if (kind == Atomic::bits_xor) got = atomicXor(target, value);
    // Replaces i by i + 1: all succeed when they come in order.
    if (kind == Atomic::cas) got = atomicCAS(target, static_cast<T>(i), static_cast<T>(i + 1));
  }
  old[i] = got;
}

}  // namespace

template <class T>
cudaError_t apply_atomic(Atomic kind, int threads, const T* values, T* target, T* old) {
  return simt::launch(atomic_kernel<T>, 1, static_cast<unsigned>(threads), 0, nullptr, kind, values,
                      target, old);
}

template cudaError_t apply_atomic(Atomic, int, const int*, int*, int*);
template cudaError_t apply_atomic(Atomic, int, const unsigned*, unsigned*, unsigned*);
template cudaError_t apply_atomic(Atomic, int, const long long*, long long*, long long*);
template cudaError_t apply_atomic(Atomic, int, const unsigned long long*, unsigned long long*,
                                  unsigned long long*);
template cudaError_t apply_atomic(Atomic, int, const float*, float*, float*);
template cudaError_t apply_atomic(Atomic, int, const double*, double*, double*);

}  // namespace simt_test
