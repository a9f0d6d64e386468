// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

#include <algorithm>
#include <ostream>

namespace moiety {

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (int d = 0; d < shape.ndim(); ++d) {
    out += (d ? ", " : "") + std::to_string(shape[d]);
  }
  return out + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

std::int64_t checked_numel(const Shape& shape) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 60;  // times 8 bytes still fits
  std::int64_t product = 1;
  for (auto d : shape) {
    check<ShapeError>(d >= 0, "negative extent in shape ", shape);
    check<ShapeError>(d == 0 || product <= kLimit / d, "shape ", shape, " is too large");
    if (d > 0) product *= d;
  }
  return shape.numel();
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t step = 1;
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

Shape broadcast_shapes(const Shape& a, const Shape& b) {
  const int ndim = std::max(a.ndim(), b.ndim());
  Shape out;
  for (int d = 0; d < ndim; ++d) {
    const int da = d - (ndim - a.ndim());
    const int db = d - (ndim - b.ndim());
    const std::int64_t na = da < 0 ? 1 : a[da];
    const std::int64_t nb = db < 0 ? 1 : b[db];
    check<ShapeError>(na == nb || na == 1 || nb == 1, "shapes ", a, " and ", b,
                      " do not broadcast");
    out.push_back(na == 1 ? nb : na);
  }
  return out;
}

int normalize_dim(int dim, int ndim) {
  const int d = dim < 0 ? dim + ndim : dim;
  check<ShapeError>(d >= 0 && d < ndim, "dimension ", dim, " is out of range for ", ndim,
                    " dimensions");
  return d;
}

}  // namespace moiety
