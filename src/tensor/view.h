// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace moiety {

/// What kernels take: a trivially copyable look at memory, owned elsewhere. Strides in elements.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Shape strides;

  std::int64_t numel() const { return shape.numel(); }
  int ndim() const { return shape.ndim(); }
  std::int64_t size(int dim) const { return shape[normalize_dim(dim, ndim())]; }
  bool defined() const { return data != nullptr || shape.ndim() > 0; }
  bool contiguous() const { return strides == contiguous_strides(shape) || numel() == 0; }

  /// The elements as T; throws DTypeError when they are of another type.
  template <class T>
  T* as() const {
    check<DTypeError>(dtype == kDTypeOf<T>, "expected ", kDTypeOf<T>, ", got ", dtype);
    return static_cast<T*>(data);
  }
};
static_assert(std::is_trivially_copyable_v<TensorView>);

}  // namespace moiety
