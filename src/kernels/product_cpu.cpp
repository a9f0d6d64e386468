// SPDX-License-Identifier: Apache-2.0
#include "kernels/product.h"
#include "tensor/error.h"
#include "tensor/signals_held.h"

#if defined(MOIETY_HAS_ONEDNN)
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#endif

namespace moiety::kernels::cpu {

#if defined(MOIETY_HAS_ONEDNN)
namespace {

/// Keeps oneDNN on the calling thread: parallelism is ours, from the device's pool.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneOpenMpThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

}  // namespace

void multiply(const Product<float>& p) {
  if (p.m == 0 || p.n == 0 || p.k == 0) return multiply_portable(p);
  const OneOpenMpThread one_thread;
  // oneDNN's kernels for AVX-512 point the stack pointer into a buffer on the heap when k > 84: a
  // signal handler that ran then would write its frame over whatever lies before the buffer.
  const SignalsHeld no_handlers;
  const auto status = dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n,
                                 p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  MOIETY_CHECK(status == dnnl_success, "dnnl_sgemm returned ", static_cast<int>(status));
}
#else
void multiply(const Product<float>& p) { multiply_portable(p); }
#endif

void multiply(const Product<double>& p) { multiply_portable(p); }

}  // namespace moiety::kernels::cpu
