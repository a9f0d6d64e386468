// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"

namespace moiety::ops {

/// Same elements in row-major order under another shape (one extent may be -1).
Variable reshape(const Variable& x, const Shape& shape);
/// Swaps two dimensions.
Variable transpose(const Variable& x, int dim0, int dim1);
/// [begin, end) of a dimension.
Variable slice(const Variable& x, int dim, std::int64_t begin, std::int64_t end);
/// Cuts a dimension into consecutive parts of these extents, which add up to its own, without
/// copying.
Variables split(const Variable& x, int dim, const std::vector<std::int64_t>& extents);
/// Joins along a dimension.
Variable concat(const Variables& parts, int dim);

}  // namespace moiety::ops
