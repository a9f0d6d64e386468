// SPDX-License-Identifier: Apache-2.0
#include "kernels/product.h"
#include "tensor/error.h"

#if defined(MOIETY_HAS_ONEDNN)
#include <oneapi/dnnl/dnnl.h>

#include "kernels/onednn_call.h"
#endif

namespace moiety::kernels::cpu {

#if defined(MOIETY_HAS_ONEDNN)
void multiply(const Product<float>& p) {
  if (p.m == 0 || p.n == 0 || p.k == 0) return multiply_portable(p);
  const OneDnnCall call;
  const auto status = dnnl_sgemm(p.transpose_a ? 'T' : 'N', p.transpose_b ? 'T' : 'N', p.m, p.n,
                                 p.k, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c, p.ldc);
  MOIETY_CHECK(status == dnnl_success, "dnnl_sgemm returned ", static_cast<int>(status));
}
#else
void multiply(const Product<float>& p) { multiply_portable(p); }
#endif

void multiply(const Product<double>& p) { multiply_portable(p); }

}  // namespace moiety::kernels::cpu
