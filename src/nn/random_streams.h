// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Purposes of random numbers under one seed; see derive_key.
namespace moiety::nn::streams {

inline constexpr std::uint64_t kInitialization = 1;
inline constexpr std::uint64_t kDropout = 2;
inline constexpr std::uint64_t kStepPart = 3;
inline constexpr std::uint64_t kSampling = 4;

}  // namespace moiety::nn::streams
