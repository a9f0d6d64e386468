// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "kernels/index_check.h"

namespace moiety::kernels::cpu {

void check_ptr(const Stream&, const TensorView& ptr, std::int64_t rows, const char* operation,
               const char* name) {
  check<ShapeError>(ptr.ndim() == 1 && ptr.numel() >= 1 && ptr.contiguous(), operation, ": ", name,
                    " must be a contiguous [M+1] tensor, not ", ptr.shape);
  const auto* p = ptr.as<std::int32_t>();
  const std::int64_t segments = ptr.numel() - 1;
  check<ShapeError>(p[0] == 0, operation, ": ", name, "[0] is ", p[0], ", must be 0");
  check<ShapeError>(p[segments] == rows, operation, ": ", name, "[", segments, "] is ", p[segments],
                    ", must be the number of rows, ", rows);
  int descends = 0;  // without a branch, so that it vectorises
  for (std::int64_t m = 0; m < segments; ++m) descends |= static_cast<int>(p[m] > p[m + 1]);
  if (descends == 0) return;
  const std::int64_t at = std::adjacent_find(p, p + segments + 1, std::greater<>()) - p;
  throw ShapeError(concat(operation, ": ", name, " must ascend, but ", name, "[", at, "] = ", p[at],
                          " and ", name, "[", at + 1, "] = ", p[at + 1]));
}

void check_index(const Stream&, const TensorView& index, std::int64_t limit, const char* operation,
                 const char* name) {
  check<ShapeError>(index.contiguous(), operation, ": ", name, " must be contiguous");
  const auto* p = index.as<std::int32_t>();
  const std::int64_t n = index.numel();
  std::uint32_t largest = 0;  // a negative entry is a large unsigned one
  for (std::int64_t i = 0; i < n; ++i) {
    largest = std::max(largest, static_cast<std::uint32_t>(p[i]));
  }
  if (n == 0 || static_cast<std::int64_t>(largest) < limit) return;
  const auto* bad = std::find_if(p, p + n, [limit](auto v) { return v < 0 || v >= limit; });
  throw Error(
      concat(operation, ": ", name, "[", bad - p, "] is ", *bad, ", outside [0, ", limit, ")"));
}

}  // namespace moiety::kernels::cpu
