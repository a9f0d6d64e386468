// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/ops/epilogue.h"
#include "autograd/variable.h"

namespace moiety::ops {

/// a [M, K], b [K, N] -> [M, N]; transpose_a: a is [K, M]; transpose_b: b is [N, K]. Leading batch
/// dimensions of a and b must be equal.
Variable matmul(const Variable& a, const Variable& b, bool transpose_a = false,
                bool transpose_b = false);

/// x [N, In], weight [Out, In] (PyTorch's layout), bias [Out] or undefined
/// -> epilogue(x weight^T + bias) [N, Out].
Variable linear(const Variable& x, const Variable& weight, const Variable& bias,
                Epilogue epilogue = Epilogue::none);

}  // namespace moiety::ops
