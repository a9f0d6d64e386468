// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace moiety::ops {

/// What follows an operation in the same pass over its output.
enum class Epilogue : std::uint8_t { none, relu };

}  // namespace moiety::ops
