// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/variable.h"

namespace moiety::ops {

/// Sum of all elements -> [].
Variable sum(const Variable& x);
/// Mean of all elements -> [].
Variable mean(const Variable& x);
/// Sum over one dimension; kept with extent 1 when keep_dim.
Variable sum(const Variable& x, int dim, bool keep_dim = false);
Variable mean(const Variable& x, int dim, bool keep_dim = false);
/// Largest over one dimension; the gradient goes to the first of equal elements.
Variable max(const Variable& x, int dim, bool keep_dim = false);
/// log(sum(exp(x))) over one dimension without overflow.
Variable log_sum_exp(const Variable& x, int dim, bool keep_dim = false);

/// exp(x) / sum(exp(x)) over the last dimension.
Variable softmax(const Variable& x);
Variable log_softmax(const Variable& x);

}  // namespace moiety::ops
