// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simt_test {

/// What a kernel gave for fixed input.
struct Case {
  std::string name;  ///< without spaces
  std::vector<std::uint32_t> words;
  /// Above 0 the words are floats that may differ by so much: a GPU adds products in another order.
  double tolerance = 0;
};

/// Runs all kernels on the current GPU.
std::vector<Case> run_cases();

}  // namespace simt_test
