// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace moiety {
namespace {

/// Copies a strided view on the host into contiguous memory, in row-major order.
template <class T>
void gather(const TensorView& from, T* to) {
  const auto* base = static_cast<const T*>(from.data);
  const std::int64_t n = from.numel();
  const int outer = std::max(from.ndim() - 1, 0);
  const std::int64_t inner = from.ndim() ? from.shape.back() : 1;
  const std::int64_t stride = from.ndim() ? from.strides.back() : 1;
  std::array<std::int64_t, kMaxDims> index{};
  for (std::int64_t done = 0; done < n; done += inner, to += inner) {
    const T* row = base;
    for (int d = 0; d < outer; ++d) row += index[d] * from.strides[d];
    for (std::int64_t i = 0; i < inner; ++i) to[i] = row[i * stride];
    for (int d = outer - 1; d >= 0 && ++index[d] == from.shape[d]; --d) index[d] = 0;
  }
}

/// The stride of an extent of 1 says nothing. Views that lie contiguously get the strides that say
/// so, so that they compare equal to those of a fresh tensor.
Shape tidy_strides(const Shape& shape, const Shape& strides) {
  const Shape packed = contiguous_strides(shape);
  for (int d = 0; d < shape.ndim(); ++d) {
    if (shape[d] > 1 && strides[d] != packed[d]) return strides;
  }
  return packed;
}

template <class T>
double as_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return to_float(value);
  }
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, Device& device) {
  const auto bytes = static_cast<std::size_t>(checked_numel(shape)) * size_of(dtype);
  Tensor out;
  out.storage_ = std::make_shared<Storage>(device, bytes);
  out.shape_ = shape;
  out.strides_ = contiguous_strides(shape);
  out.dtype_ = dtype;
  return out;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Device& device) {
  Tensor out = empty(shape, dtype, device);
  out.fill_zero();
  return out;
}

Tensor Tensor::from_host(const void* data, std::size_t count, const Shape& shape, DType dtype,
                         Device& device) {
  check<ShapeError>(static_cast<std::int64_t>(count) == checked_numel(shape), count,
                    " values for a tensor of shape ", shape);
  Tensor out = empty(shape, dtype, device);
  device.copy_bytes(out.raw_data(), data, out.bytes(), device.stream());
  return out;
}

void* Tensor::raw_data() const {
  check(defined(), "use of an undefined tensor");
  return storage_->data() + offset_ * static_cast<std::int64_t>(size_of(dtype_));
}

TensorView Tensor::view() const { return {raw_data(), dtype_, shape_, strides_}; }

Tensor Tensor::reshape(const Shape& shape) const {
  check(defined(), "use of an undefined tensor");
  check<ShapeError>(contiguous(), "reshape takes a contiguous tensor; call clone() first");
  Shape target = shape;
  auto* const begin = &target[0];
  auto* const end = begin + target.ndim();
  if (auto* unknown = std::find(begin, end, -1); unknown != end) {
    *unknown = 1;
    check<ShapeError>(std::find(begin, end, -1) == end, "reshape to ", shape,
                      ": only one extent may be -1");
    const std::int64_t known = checked_numel(target);
    *unknown = known == 0 ? 0 : numel() / known;
  }
  check<ShapeError>(checked_numel(target) == numel(), "cannot reshape ", shape_, " to ", shape);
  Tensor out = *this;
  out.shape_ = target;
  out.strides_ = contiguous_strides(target);
  return out;
}

Tensor Tensor::slice(int dim, std::int64_t begin, std::int64_t end) const {
  const int d = normalize_dim(dim, ndim());
  check<ShapeError>(0 <= begin && begin <= end && end <= shape_[d], "slice [", begin, ", ", end,
                    ") is out of range for extent ", shape_[d]);
  Tensor out = *this;
  out.offset_ += begin * strides_[d];
  out.shape_[d] = end - begin;
  out.strides_ = tidy_strides(out.shape_, strides_);
  return out;
}

Tensor Tensor::transpose(int dim0, int dim1) const {
  const int a = normalize_dim(dim0, ndim());
  const int b = normalize_dim(dim1, ndim());
  Tensor out = *this;
  std::swap(out.shape_[a], out.shape_[b]);
  std::swap(out.strides_[a], out.strides_[b]);
  out.strides_ = tidy_strides(out.shape_, out.strides_);
  return out;
}

Tensor Tensor::expand(const Shape& shape) const {
  check(defined(), "use of an undefined tensor");
  checked_numel(shape);
  check<ShapeError>(shape.ndim() >= ndim(), "cannot expand ", shape_, " to ", shape);
  Tensor out = *this;
  out.shape_ = shape;
  out.strides_ = shape;
  const int lead = shape.ndim() - ndim();
  for (int d = 0; d < shape.ndim(); ++d) {
    const bool same = d >= lead && shape_[d - lead] == shape[d];
    check<ShapeError>(d < lead || same || shape_[d - lead] == 1, "cannot expand ", shape_, " to ",
                      shape);
    out.strides_[d] = same ? strides_[d - lead] : 0;
  }
  out.strides_ = tidy_strides(shape, out.strides_);
  return out;
}

Tensor Tensor::part(std::int64_t first, const Shape& shape, DType dtype) const {
  constexpr auto kAligned = static_cast<std::int64_t>(CachingAllocator::kAlignment);
  check<DTypeError>(dtype_ == DType::u8 && contiguous(), "part of a tensor of ", dtype_);
  const std::int64_t bytes = checked_numel(shape) * static_cast<std::int64_t>(size_of(dtype));
  check<ShapeError>(first >= 0 && first % kAligned == 0 && first + bytes <= numel(), bytes,
                    " bytes from byte ", first, " on do not lie in a block of ", numel());
  check<ShapeError>(offset_ % kAligned == 0, "part of a tensor that begins between blocks of 64");
  Tensor out = *this;
  out.offset_ = (offset_ + first) / static_cast<std::int64_t>(size_of(dtype));
  out.shape_ = shape;
  out.strides_ = contiguous_strides(shape);
  out.dtype_ = dtype;
  return out;
}

Tensor Tensor::clone() const {
  Tensor out = empty(shape_, dtype_, device());
  out.copy_from(*this);
  return out;
}

Tensor Tensor::to(Device& target) const {
  if (&target == &device()) return *this;
  const Tensor source = contiguous_copy();
  Tensor out = empty(shape_, dtype_, target);
  // The streams of two GPUs know nothing of each other's queues: wait on both sides of the copy.
  Device& mover = target.is_cuda() ? target : source.device();
  source.device().synchronize(source.device().stream());
  mover.copy_bytes(out.raw_data(), source.raw_data(), out.bytes(), mover.stream());
  mover.synchronize(mover.stream());
  return out;
}

void Tensor::copy_from(const Tensor& source) const {
  check<ShapeError>(source.shape() == shape_, "copy of shape ", source.shape(), " into ", shape_);
  check<DTypeError>(source.dtype() == dtype_, "copy of ", source.dtype(), " into ", dtype_);
  check<ShapeError>(contiguous(), "copy_from writes to contiguous tensors only");
  check(&source.device() == &device(), "copy_from: both tensors must be on one device; use to()");
  const Tensor from = source.storage_ == storage_ ? source.clone() : source;  // they may overlap
  if (from.contiguous()) {
    device().copy_bytes(raw_data(), from.raw_data(), bytes(), device().stream());
  } else {
    check(!device().is_cuda(), "strided copies on a GPU go through kernels::copy");
    visit_any(dtype_, [&]<class T>() { gather(from.view(), static_cast<T*>(raw_data())); });
  }
}

void Tensor::fill_zero() const {
  check<ShapeError>(contiguous(), "fill_zero takes a contiguous tensor");
  device().fill_zero(raw_data(), bytes(), device().stream());
}

void Tensor::copy_to_host(void* to) const {
  if (numel() == 0) return;
  const bool in_order = contiguous();
  std::int64_t span = 1;  // elements from the first to the last
  for (int d = 0; d < ndim(); ++d) span += (shape_[d] - 1) * strides_[d];
  std::vector<std::byte> staging(in_order ? 0 : static_cast<std::size_t>(span) * size_of(dtype_));
  Device& owner = device();
  owner.copy_bytes(in_order ? to : staging.data(), raw_data(), in_order ? bytes() : staging.size(),
                   owner.stream());
  owner.synchronize(owner.stream());
  if (in_order) return;
  TensorView on_host = view();
  on_host.data = staging.data();
  visit_any(dtype_, [&]<class T>() { gather(on_host, static_cast<T*>(to)); });
}

double Tensor::item() const {
  check<ShapeError>(numel() == 1, "item() of a tensor of shape ", shape_);
  return visit_any(dtype_, [&]<class T>() {
    T value;
    copy_to_host(&value);
    return as_double(value);
  });
}

void check_same_device(std::initializer_list<const Tensor*> tensors) {
  const Device* device = nullptr;
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined()) continue;
    if (device == nullptr) device = &tensor->device();
    check(device == &tensor->device(), "tensors on different devices: ", device->name(), " and ",
          tensor->device().name());
  }
}

}  // namespace moiety
