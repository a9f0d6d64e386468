// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "tensor/tensor.h"

// How packed batches of any kind lie in their block of memory.
namespace moiety {

inline std::int64_t round_up(std::int64_t n, std::int64_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// One of few extents that are not smaller: 64, or multiples of an eighth of the power of two
/// below.
inline std::int64_t padded_extent(std::int64_t n) {
  constexpr std::int64_t kSmallest = 64;
  if (n <= kSmallest) return kSmallest;
  const auto below = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n - 1)));
  return round_up(n, below / 8);
}

/// Cuts tensors off a block, one after the other; without a block it only counts their bytes.
class BlockCutter {
 public:
  explicit BlockCutter(Tensor memory) : memory_(std::move(memory)) {}

  Tensor take(const Shape& shape, DType dtype) {
    constexpr std::int64_t kAlignment = 256;  // as cudaMalloc aligns: any kernel's widest access
    const std::int64_t first = bytes_;
    bytes_ += round_up(shape.numel() * static_cast<std::int64_t>(size_of(dtype)), kAlignment);
    return memory_.defined() ? memory_.part(first, shape, dtype) : Tensor();
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  Tensor memory_;
  std::int64_t bytes_ = 0;
};

/// What `cut` makes of a block that is as large as it needs: cut(BlockCutter&) -> a packed batch.
template <class Cut>
auto lay_out(const Cut& cut, Device& device) {
  BlockCutter counter{Tensor()};
  cut(counter);
  const Tensor memory = Tensor::empty({counter.bytes()}, DType::u8, device);
  BlockCutter cutter(memory);
  auto out = cut(cutter);
  out.memory = memory;
  return out;
}

/// to = from, then `fill`.
template <class T>
void copy_and_fill(const Tensor& from, const Tensor& to, T fill) {
  const T* values = from.data<T>();
  T* const end = std::copy(values, values + from.numel(), to.data<T>());
  std::fill(end, to.data<T>() + to.numel(), fill);
}

/// ptr [owners + 1]: they share what lies in [begin, end) evenly.
inline void share_evenly(std::int32_t* ptr, std::int64_t owners, std::int64_t begin,
                         std::int64_t end) {
  ptr[0] = static_cast<std::int32_t>(end);
  for (std::int64_t i = 0; i <= owners && owners > 0; ++i) {
    ptr[i] = static_cast<std::int32_t>(begin + i * (end - begin) / owners);
  }
}

}  // namespace moiety
