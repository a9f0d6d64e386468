// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/map.cuh"
#include "kernels/elementwise.h"

namespace moiety::kernels::cuda {
namespace {

/// Maximum and minimum keep a NaN of either side.
template <BinaryOp kOp>
struct Function {
  template <class C>
  __device__ C operator()(C a, C b) const {
    if constexpr (kOp == BinaryOp::add) return a + b;
    if constexpr (kOp == BinaryOp::sub) return a - b;
    if constexpr (kOp == BinaryOp::mul) return a * b;
    if constexpr (kOp == BinaryOp::div) return a / b;
    if constexpr (kOp == BinaryOp::maximum) return a < b || b != b ? b : a;
    if constexpr (kOp == BinaryOp::minimum) return a > b || b != b ? b : a;
    if constexpr (kOp == BinaryOp::greater_equal) return a >= b ? C{1} : C{0};
  }
};

/// Calls visit.template operator()<op>().
template <class Visit>
void visit_binary(BinaryOp op, const Visit& visit) {
  switch (op) {
    case BinaryOp::add:
      return visit.template operator()<BinaryOp::add>();
    case BinaryOp::sub:
      return visit.template operator()<BinaryOp::sub>();
    case BinaryOp::mul:
      return visit.template operator()<BinaryOp::mul>();
    case BinaryOp::div:
      return visit.template operator()<BinaryOp::div>();
    case BinaryOp::maximum:
      return visit.template operator()<BinaryOp::maximum>();
    case BinaryOp::minimum:
      return visit.template operator()<BinaryOp::minimum>();
    case BinaryOp::greater_equal:
      return visit.template operator()<BinaryOp::greater_equal>();
  }
  throw Error("unknown element-wise operation");
}

constexpr int kMostTensors = 64;  // of one launch: with the rest, within 4 KiB of arguments

/// Pairs of tensors, cut into blocks of a pack a thread: those of pair t begin at block begin[t].
template <class T>
struct TensorPairs {
  int count = 0;
  unsigned begin[kMostTensors + 1] = {};
  const T* from[kMostTensors] = {};
  T* into[kMostTensors] = {};
  std::int64_t size[kMostTensors] = {};
  bool aligned[kMostTensors] = {};

  void add(const T* source, T* target, std::int64_t elements) {
    constexpr std::int64_t kShare = kMapBlock * kWide<T>;
    from[count] = source;
    into[count] = target;
    size[count] = elements;
    aligned[count] = is_aligned(source) && is_aligned(target);
    begin[count + 1] = begin[count] + static_cast<unsigned>((elements + kShare - 1) / kShare);
    ++count;
  }
};

template <class T>
__global__ void accumulate_all_kernel(const TensorPairs<T> pairs) {
  int low = 0;
  int high = pairs.count;  // the last pair that begins at this block or before
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (pairs.begin[middle] <= blockIdx.x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const std::int64_t block = blockIdx.x - pairs.begin[low];
  const std::int64_t first = (block * kMapBlock + threadIdx.x) * kWide<T>;
  if (first >= pairs.size[low]) return;
  const int count = elements_at<kWide<T>>(first, pairs.size[low]);
  const T* const from = pairs.from[low] + first;
  T* const into = pairs.into[low] + first;
  if (!pairs.aligned[low]) {
    for (int i = 0; i < count; ++i) into[i] = narrow<T>(widen(into[i]) + widen(from[i]));
    return;
  }
  Pack<T, kWide<T>> sum;
  Pack<T, kWide<T>> more;
  load_some(sum, into, count);
  load_some(more, from, count);
#pragma unroll
  for (int i = 0; i < kWide<T>; ++i) sum.v[i] += more.v[i];
  store_some(sum, into, count);
}

}  // namespace

void binary(const Stream& stream, BinaryOp op, const TensorView& a, const TensorView& b,
            const TensorView& out) {
  MOIETY_CHECK(out.contiguous(), "binary: strided output");
  visit_floating(out.dtype, [&]<class T>() {
    visit_binary(op, [&]<BinaryOp kOp>() {
      map<Pack, T, 2>(stream, out, {&a, &b}, Function<kOp>{});
    });
  });
}

void accumulate(const Stream& stream, const TensorView& from, const TensorView& into) {
  MOIETY_CHECK(from.shape == into.shape, "accumulate: ", from.shape, " into ", into.shape);
  cuda::binary(stream, BinaryOp::add, into, from, into);
}

void accumulate_all(const Stream& stream, std::span<const TensorView> from,
                    std::span<const TensorView> into) {
  if (into.empty()) return;
  visit_floating(into[0].dtype, [&]<class T>() {
    for (std::size_t next = 0; next < into.size();) {
      TensorPairs<T> pairs;
      for (; next < into.size() && pairs.count < kMostTensors; ++next) {
        if (into[next].numel() == 0) continue;
        pairs.add(from[next].as<T>(), into[next].as<T>(), into[next].numel());
      }
      launch(accumulate_all_kernel<T>, Threads(dim3(pairs.begin[pairs.count]), dim3(kMapBlock)),
             stream, pairs);
    }
  });
}

}  // namespace moiety::kernels::cuda
