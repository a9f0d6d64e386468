// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/run_record.h"

namespace moiety::apps {

/// What runs reached on their test splits, with their baselines among them: a table for a terminal,
/// a row a target, grouped by target and best first.
std::string result_screen(const std::vector<RunRecord>& runs);

}  // namespace moiety::apps
