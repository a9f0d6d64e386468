// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"

namespace moiety::ops {

/// a [M, K], b [K, N] -> [M, N]; transpose_a: a is [K, M]; transpose_b: b is [N, K]. Leading batch
/// dimensions of a and b must be equal.
Variable matmul(const Variable& a, const Variable& b, bool transpose_a = false,
                bool transpose_b = false);

/// What follows the product in the same pass over the output.
enum class Epilogue : std::uint8_t { none, relu };

/// x [N, In], weight [Out, In] (PyTorch's layout), bias [Out] or undefined
/// -> epilogue(x weight^T + bias) [N, Out].
Variable linear(const Variable& x, const Variable& weight, const Variable& bias,
                Epilogue epilogue = Epilogue::none);

}  // namespace moiety::ops
