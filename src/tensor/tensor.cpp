// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor.h"

#include <cstring>

namespace moiety {
namespace {

std::size_t checked_bytes(const Shape& shape, DType dtype) {
  std::size_t bytes = size_of(dtype);
  for (auto d : shape) {
    check<ShapeError>(d >= 0, "negative extent in shape ", shape);
    check<ShapeError>(!__builtin_mul_overflow(bytes, static_cast<std::size_t>(d), &bytes),
                      "shape ", shape, " is too large");
  }
  return bytes;
}

/// Copies a strided view on the host into contiguous memory, in row-major order.
void gather_bytes(const TensorView& from, std::byte* to) {
  const std::size_t element = size_of(from.dtype);
  const auto* base = static_cast<const std::byte*>(from.data);
  const std::int64_t n = from.numel();
  if (n == 0) return;
  const int ndim = from.ndim();
  const std::int64_t inner = ndim ? from.shape.back() : 1;
  const std::int64_t inner_stride = ndim ? from.strides.back() : 1;
  Shape index = from.shape;
  for (int d = 0; d < ndim; ++d) index[d] = 0;
  for (std::int64_t done = 0; done < n; done += inner) {
    std::int64_t at = 0;
    for (int d = 0; d + 1 < ndim; ++d) at += index[d] * from.strides[d];
    const std::byte* row = base + at * static_cast<std::int64_t>(element);
    if (inner_stride == 1) {
      std::memcpy(to, row, static_cast<std::size_t>(inner) * element);
      to += static_cast<std::size_t>(inner) * element;
    } else {
      for (std::int64_t i = 0; i < inner; ++i, to += element) {
        std::memcpy(to, row + i * inner_stride * static_cast<std::int64_t>(element), element);
      }
    }
    for (int d = ndim - 2; d >= 0 && ++index[d] == from.shape[d]; --d) index[d] = 0;
  }
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype, Device& device) {
  Tensor out;
  out.storage_ = std::make_shared<Storage>(device, checked_bytes(shape, dtype));
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
  check<ShapeError>(static_cast<std::int64_t>(count) == shape.numel(), count,
                    " values for a tensor of shape ", shape);
  Tensor out = empty(shape, dtype, device);
  device.copy_bytes(out.raw_data(), data, out.bytes(), device.stream());
  return out;
}

TensorView Tensor::view() const {
  check(defined(), "use of an undefined tensor");
  return {raw_data(), dtype_, shape_, strides_};
}

Tensor Tensor::reshape(const Shape& shape) const {
  Shape target = shape;
  int unknown = -1;
  std::int64_t known = 1;
  for (int d = 0; d < shape.ndim(); ++d) {
    if (shape[d] != -1) {
      known *= shape[d];
    } else {
      check<ShapeError>(unknown < 0, "reshape to ", shape, ": only one extent may be -1");
      unknown = d;
    }
  }
  if (unknown >= 0) target[unknown] = known == 0 ? 0 : numel() / known;
  check<ShapeError>(target.numel() == numel(), "cannot reshape ", shape_, " to ", shape);
  check<ShapeError>(contiguous(), "reshape takes a contiguous tensor; call clone() first");
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
  return out;
}

Tensor Tensor::transpose(int dim0, int dim1) const {
  const int a = normalize_dim(dim0, ndim());
  const int b = normalize_dim(dim1, ndim());
  Tensor out = *this;
  std::swap(out.shape_[a], out.shape_[b]);
  std::swap(out.strides_[a], out.strides_[b]);
  return out;
}

Tensor Tensor::expand(const Shape& shape) const {
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
  Device& mover = target.is_cuda() ? target : source.device();
  mover.copy_bytes(out.raw_data(), source.raw_data(), out.bytes(), mover.stream());
  return out;
}

void Tensor::copy_from(const Tensor& source) const {
  check<ShapeError>(source.shape() == shape_, "copy of shape ", source.shape(), " into ", shape_);
  check<DTypeError>(source.dtype() == dtype_, "copy of ", name_of(source.dtype()), " into ",
                    name_of(dtype_));
  check<ShapeError>(contiguous(), "copy_from writes to contiguous tensors only");
  check(&source.device() == &device(), "copy_from: both tensors must be on one device; use to()");
  if (source.contiguous()) {
    device().copy_bytes(raw_data(), source.raw_data(), bytes(), device().stream());
  } else {
    check(!device().is_cuda(), "strided copies on CUDA go through kernels::copy");
    gather_bytes(source.view(), static_cast<std::byte*>(raw_data()));
  }
}

void Tensor::fill_zero() const {
  check<ShapeError>(contiguous(), "fill_zero takes a contiguous tensor");
  device().fill_zero(raw_data(), bytes(), device().stream());
}

void Tensor::copy_to_host(void* to) const {
  const Tensor source = contiguous_copy();
  source.device().copy_bytes(to, source.raw_data(), source.bytes(), source.device().stream());
  source.device().synchronize(source.device().stream());
}

double Tensor::item() const {
  check<ShapeError>(numel() == 1, "item() of a tensor of shape ", shape_);
  switch (dtype_) {
    case DType::f64:
      return to_vector<double>()[0];
    case DType::i64:
      return static_cast<double>(to_vector<std::int64_t>()[0]);
    case DType::i32:
      return to_vector<std::int32_t>()[0];
    default:
      return to_vector<float>()[0];
  }
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
