// SPDX-License-Identifier: Apache-2.0
#include "device.h"
#include "kernels.h"

namespace simt_test {
namespace {

constexpr unsigned kFull = 0xffffffffu;

template <class T>
__global__ void shuffle_kernel(Shuffle kind, const T* in, const int* arguments, T* out, int width) {
  const unsigned lane = threadIdx.x;
  const T value = in[lane];
  const int argument = arguments[lane];
  const auto delta = static_cast<unsigned>(argument);
  if (kind == Shuffle::index) out[lane] = __shfl_sync(kFull, value, argument, width);
  if (kind == Shuffle::up) out[lane] = __shfl_up_sync(kFull, value, delta, width);
  if (kind == Shuffle::down) out[lane] = __shfl_down_sync(kFull, value, delta, width);
  if (kind == Shuffle::xor_lanes) out[lane] = __shfl_xor_sync(kFull, value, argument, width);
}

__global__ void vote_kernel(unsigned mask, const unsigned* in, Votes* out) {
  const unsigned lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const unsigned value = in[lane];
  const int number = static_cast<int>(value);
  Votes votes;
  votes.ballot = __ballot_sync(mask, number & 1);
  votes.any = __any_sync(mask, number & 2);
  votes.all = __all_sync(mask, number & 4);
  votes.add = __reduce_add_sync(mask, value);
  votes.smallest = __reduce_min_sync(mask, value);
  votes.largest = __reduce_max_sync(mask, value);
  votes.bits_and = __reduce_and_sync(mask, value);
  votes.bits_or = __reduce_or_sync(mask, value);
  votes.signed_add = __reduce_add_sync(mask, number);
  votes.signed_smallest = __reduce_min_sync(mask, number);
  __syncwarp(mask);
  votes.active = __activemask();
  out[lane] = votes;
}

}  // namespace

template <class T>
cudaError_t shuffle(Shuffle kind, const T* in, const int* arguments, T* out, int width) {
  return simt::launch(shuffle_kernel<T>, 1, 32, 0, nullptr, kind, in, arguments, out, width);
}

template cudaError_t shuffle(Shuffle, const std::uint8_t*, const int*, std::uint8_t*, int);
template cudaError_t shuffle(Shuffle, const std::uint16_t*, const int*, std::uint16_t*, int);
template cudaError_t shuffle(Shuffle, const float*, const int*, float*, int);
template cudaError_t shuffle(Shuffle, const double*, const int*, double*, int);

cudaError_t vote(unsigned mask, const unsigned* in, Votes* out) {
  return simt::launch(vote_kernel, 1, 32, 0, nullptr, mask, in, out);
}

}  // namespace simt_test
