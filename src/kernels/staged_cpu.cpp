// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "kernels/staged.h"

namespace moiety::kernels {
namespace {

TensorView dense_view(std::byte* data, DType dtype, const Shape& shape) {
  return {data, dtype, shape, contiguous_strides(shape)};
}

}  // namespace

F32Copy::F32Copy(const Stream& stream, const TensorView& from, bool filled)
    : from_(from),
      storage_(stream.device(), static_cast<std::size_t>(from.numel()) * sizeof(float)),
      view_(dense_view(storage_.data(), DType::f32, from.shape)) {
  if (!filled) return;
  if (from.contiguous()) {
    cpu::cast(stream, from, view_);
    return;
  }
  const Storage dense(stream.device(),
                      static_cast<std::size_t>(from.numel()) * size_of(from.dtype));
  const TensorView halves = dense_view(dense.data(), from.dtype, from.shape);
  cpu::copy(stream, from, halves);
  cpu::cast(stream, halves, view_);
}

void F32Copy::write_back(const Stream& stream) const { cpu::cast(stream, view_, from_); }

}  // namespace moiety::kernels
