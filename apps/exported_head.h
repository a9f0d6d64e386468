// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nn/checkpoint.h"
#include "nn/target_scaler.h"

namespace moiety::apps {

/// Lets a model's last linear layer, "<layer>.weight" [T, C] and "<layer>.bias" [T] of exported
/// weights, give targets in their own units: other libraries know nothing of the scaler.
void fold_scaler(nn::Checkpoint& weights, const std::string& layer, const nn::TargetScaler& scaler);

}  // namespace moiety::apps
