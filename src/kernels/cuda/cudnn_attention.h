// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/attention.h"

namespace moiety::kernels::cuda {

/// attention() by cuDNN, for bf16 and f16: out and lse as our own kernels give them, so that these
/// can go backward from there. Throws UserError for dropout (whose masks would be others), a bias,
/// and causal attention from queries to keys of other lengths; CudaError where the build or the
/// machine has no cuDNN, or cuDNN no kernel for the problem.
void cudnn_attention(const Stream& stream, const AttentionRule& rule, const AttentionInputs& in,
                     const TensorView& out, const TensorView& lse);

}  // namespace moiety::kernels::cuda
