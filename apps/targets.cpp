// SPDX-License-Identifier: Apache-2.0
#include "apps/targets.h"

#include "apps/binary_targets.h"
#include "apps/regression_targets.h"

namespace moiety::apps {

std::unique_ptr<Targets> make_targets(const ModelSpec& spec) {
  if (spec.target_task == "binary") return std::make_unique<BinaryTargets>(spec.scaler());
  return std::make_unique<RegressionTargets>(spec.scaler());
}

}  // namespace moiety::apps
