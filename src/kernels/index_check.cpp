// SPDX-License-Identifier: Apache-2.0
#include "kernels/index_check.h"

namespace moiety::kernels {

void check_ptr(const Stream& stream, const TensorView& ptr, std::int64_t rows,
               const char* operation, const char* name) {
  run_on<cpu::check_ptr, cuda::check_ptr>(stream, ptr, rows, operation, name);
}

void check_index(const Stream& stream, const TensorView& index, std::int64_t limit,
                 const char* operation, const char* name) {
  run_on<cpu::check_index, cuda::check_index>(stream, index, limit, operation, name);
}

}  // namespace moiety::kernels
