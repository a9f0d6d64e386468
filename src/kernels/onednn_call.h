// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

#include "tensor/signals_held.h"

namespace moiety::kernels::cpu {

/// Around a call of oneDNN's: it stays on the calling thread, as parallelism is ours, from the
/// device's pool; and no signal handler runs. oneDNN's kernels for AVX-512 point the stack pointer
/// into a buffer on the heap: a handler that ran then would write its frame over whatever lies
/// before the buffer.
class OneDnnCall {
 public:
  OneDnnCall() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneDnnCall() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneDnnCall(const OneDnnCall&) = delete;
  OneDnnCall& operator=(const OneDnnCall&) = delete;

 private:
  int before_;
  SignalsHeld no_handlers_;
};

}  // namespace moiety::kernels::cpu
