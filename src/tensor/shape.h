// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

#include "tensor/error.h"

namespace moiety {

inline constexpr int kMaxDims = 6;

/// Up to kMaxDims extents, or strides in elements, kept inline: no allocation per tensor.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims) : ndim_(static_cast<int>(dims.size())) {
    check<ShapeError>(dims.size() <= kMaxDims, "at most ", kMaxDims, " dimensions, not ",
                      dims.size());
    for (int d = 0; d < ndim_; ++d) dims_[d] = dims[d];
  }

  int ndim() const { return ndim_; }
  std::int64_t operator[](int d) const { return dims_[d]; }
  std::int64_t& operator[](int d) { return dims_[d]; }
  const std::int64_t* begin() const { return dims_.data(); }
  const std::int64_t* end() const { return dims_.data() + ndim_; }
  std::int64_t back() const { return dims_[ndim_ - 1]; }

  /// Product of the extents; 1 for a scalar. Never overflows for the shape of a tensor.
  std::int64_t numel() const {
    std::int64_t n = 1;
    for (auto d : *this) n *= d;
    return n;
  }
  void push_back(std::int64_t dim) {
    check<ShapeError>(ndim_ < kMaxDims, "at most ", kMaxDims, " dimensions");
    dims_[ndim_++] = dim;
  }
  bool operator==(const Shape& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  std::array<std::int64_t, kMaxDims> dims_{};
  int ndim_ = 0;
};

/// "[3, 4]".
std::string to_string(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// Product of the extents. Throws ShapeError where one is negative, or where the product of those
/// that are not 0 exceeds 2^60: no tensor has such a shape, and its strides would overflow.
std::int64_t checked_numel(const Shape& shape);

/// Row-major strides of a contiguous tensor.
Shape contiguous_strides(const Shape& shape);

/// NumPy's broadcasting of two shapes; throws ShapeError naming both where they do not fit.
Shape broadcast_shapes(const Shape& a, const Shape& b);

/// Maps -1 to the last dimension and so on; throws ShapeError when out of range.
int normalize_dim(int dim, int ndim);

}  // namespace moiety
