// SPDX-License-Identifier: Apache-2.0
#include "kernels/rotary.h"

#include "kernels/norm.h"
#include "kernels/staged.h"

namespace moiety::kernels {

void rotary(const Stream& stream, bool back, const TensorView& x, const TensorView& positions,
            const TensorView& table, const TensorView& out) {
  MOIETY_CHECK(x.ndim() == 3 && x.shape == out.shape && x.dtype == out.dtype && out.contiguous(),
               "rotary: ", x.shape, " to ", out.shape);
  check<ShapeError>(x.size(2) % 2 == 0 && table.ndim() == 2 && table.size(1) == x.size(2),
                    "rotary: heads of size ", x.size(2), " and a table ", table.shape,
                    "; heads must have an even size and the table as many columns");
  MOIETY_CHECK((x.numel() == 0 || x.strides[2] == 1) && table.contiguous() &&
               table.dtype == statistics_dtype(x.dtype));
  check<ShapeError>(positions.shape == Shape({x.size(0)}) && positions.contiguous(),
                    "rotary: positions ", positions.shape, " for ", x.size(0), " tokens");
  run_staged<cpu::rotary, cuda::rotary>(stream, back, reads(x), positions, table, writes(out));
}

}  // namespace moiety::kernels
