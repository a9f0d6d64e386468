// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tensor/device.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/storage.h"
#include "tensor/view.h"

namespace moiety {

/// Shared storage, offset, shape, strides, dtype, device. Copying shares the data; arithmetic is
/// elsewhere. A default-constructed Tensor is undefined.
class Tensor {
 public:
  Tensor() = default;

  /// Uninitialised, contiguous.
  static Tensor empty(const Shape& shape, DType dtype, Device& device);
  static Tensor zeros(const Shape& shape, DType dtype, Device& device);
  /// A copy of host data, whose size must be shape.numel().
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape, Device& device) {
    return from_host(values.data(), values.size(), shape, kDTypeOf<T>, device);
  }
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape, Device& device) {
    return from_host(values.data(), values.size(), shape, kDTypeOf<T>, device);
  }

  bool defined() const { return storage_ != nullptr; }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }
  std::int64_t size(int dim) const { return shape_[normalize_dim(dim, shape_.ndim())]; }
  int ndim() const { return shape_.ndim(); }
  std::int64_t numel() const { return shape_.numel(); }
  DType dtype() const { return dtype_; }
  /// Throws Error for an undefined tensor.
  Device& device() const {
    check(defined(), "use of an undefined tensor");
    return storage_->device();
  }
  bool contiguous() const { return strides_ == contiguous_strides(shape_) || numel() == 0; }
  std::size_t bytes() const { return static_cast<std::size_t>(numel()) * size_of(dtype_); }

  /// The elements; throws DTypeError when T is not the dtype. Host-readable on the CPU only.
  template <class T>
  T* data() const {
    return view().as<T>();
  }
  void* raw_data() const;
  TensorView view() const;
  operator TensorView() const { return view(); }  // NOLINT: kernels take views

  // Views: they share the data.
  /// Same elements, another shape; one extent may be -1. Throws ShapeError when the sizes differ or
  /// the tensor is not contiguous.
  Tensor reshape(const Shape& shape) const;
  /// [begin, end) of dimension dim.
  Tensor slice(int dim, std::int64_t begin, std::int64_t end) const;
  Tensor transpose(int dim0, int dim1) const;
  /// Repeats extents of 1 (and new leading dimensions) without copying: strides of 0.
  Tensor expand(const Shape& shape) const;

  /// Other elements in the memory of this one, from byte `first` on, which must be a multiple of
  /// 64: this tensor must be contiguous u8. Throws ShapeError for what it does not hold.
  Tensor part(std::int64_t first, const Shape& shape, DType dtype) const;

  /// A contiguous copy of the data.
  Tensor clone() const;
  /// Itself when contiguous, else a contiguous copy.
  Tensor contiguous_copy() const { return contiguous() ? *this : clone(); }
  /// On another device; itself when it is there already.
  Tensor to(Device& device) const;
  /// Overwrites the elements with those of a tensor of the same shape and dtype on the same device;
  /// the two may overlap. This tensor must be contiguous.
  void copy_from(const Tensor& source) const;
  void fill_zero() const;
  /// The elements in row-major order on the host.
  template <class T>
  std::vector<T> to_vector() const {
    check<DTypeError>(dtype_ == kDTypeOf<T>, "to_vector of ", kDTypeOf<T>, ": tensor is ", dtype_);
    std::vector<T> out(static_cast<std::size_t>(numel()));
    copy_to_host(out.data());
    return out;
  }
  /// The single element of a tensor of one element, as double.
  double item() const;

 private:
  static Tensor from_host(const void* data, std::size_t count, const Shape& shape, DType dtype,
                          Device& device);
  void copy_to_host(void* to) const;

  std::shared_ptr<Storage> storage_;
  std::int64_t offset_ = 0;
  Shape shape_;
  Shape strides_;
  DType dtype_ = DType::f32;
};

/// Throws Error unless all defined tensors are on one device.
void check_same_device(std::initializer_list<const Tensor*> tensors);

}  // namespace moiety
