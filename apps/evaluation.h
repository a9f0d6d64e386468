// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "tensor/device.h"

namespace moiety::apps {

/// Numbers that a model gives for a large batch, part by part, joined in order. `collate(size)`
/// cuts it into parts of about this size, on the device's host: `size`, or where the memory of a
/// GPU does not hold what comes of a part, half as much, and so on. Parts are spread over a CPU's
/// threads, or go to a GPU in turn. Of GraphBatch and TokenBatch.
template <class Batch>
std::vector<double> predict_in_parts(
    std::int64_t size, const std::function<std::vector<Batch>(std::int64_t size)>& collate,
    const std::function<std::vector<double>(const Batch& part)>& predict, Device& device);

}  // namespace moiety::apps
