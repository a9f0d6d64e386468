// SPDX-License-Identifier: Apache-2.0
#include "kernels/category.h"

namespace moiety::kernels::cpu {

void combine_categories(const Stream& stream, const TensorView& attr,
                        const std::vector<std::int32_t>& dims, const TensorView& out) {
  const auto features = static_cast<std::int64_t>(dims.size());
  MOIETY_CHECK(attr.ndim() == 2 && attr.shape[1] == features && attr.contiguous());
  MOIETY_CHECK(out.numel() == attr.shape[0] && out.contiguous());
  const auto* from = attr.as<std::int32_t>();
  auto* to = out.as<std::int32_t>();
  constexpr std::int64_t kGrain = 16384;
  parallel_for(stream, attr.shape[0], kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t e = begin; e < end; ++e) {
      std::int32_t number = 0;
      for (std::int64_t f = 0; f < features; ++f) {
        const std::int32_t value = from[e * features + f];
        check(value >= 0 && value < dims[static_cast<std::size_t>(f)], "category ", value,
              " of feature ", f, " in row ", e, " is outside [0, ",
              dims[static_cast<std::size_t>(f)], ")");
        number = number * dims[static_cast<std::size_t>(f)] + value;
      }
      to[e] = number;
    }
  });
}

}  // namespace moiety::kernels::cpu
