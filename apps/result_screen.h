// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/run_record.h"

namespace moiety::apps {

/// What runs reached on their test splits, best first, with their baselines among them: a table for
/// a terminal.
std::string result_screen(const std::vector<RunRecord>& runs);

}  // namespace moiety::apps
