// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "tensor/device.h"

namespace moiety::bench {

/// Bytes per second, read and written, of copying between two arrays of `bytes` together on all
/// threads of the device: in cache when they fit, from memory when not. The best of several tries.
double copy_bandwidth(Device& device, std::size_t bytes);

/// Multiplications and additions of floats per second on all threads of the device: independent
/// fused multiply-adds on registers.
double fma_rate(Device& device);

}  // namespace moiety::bench
