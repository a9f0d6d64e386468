// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tensor/device.h"

namespace moiety::testing {

/// Names of the devices that a parameterised test runs on: the CPU and, where there is one, the
/// first GPU or the emulated one.
inline std::vector<std::string> devices() {
  std::vector<std::string> names = {"cpu"};
  if (cuda_status().count > 0) names.emplace_back("cuda");
  return names;
}

}  // namespace moiety::testing
