// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/view.h"

namespace moiety::kernels::cpu {

/// nullptr for an undefined view.
template <class T>
T* data_or_null(const TensorView& view) {
  return view.defined() ? view.as<T>() : nullptr;
}

}  // namespace moiety::kernels::cpu
