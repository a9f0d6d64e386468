// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace moiety {

/// Whether code compiled for `architectures`, in CMake's words with spaces between them ("80-real
/// 90a 100-virtual"), runs on a GPU of that compute capability. Words that are no numbers
/// ("native") may stand for any.
bool runs_on(std::string_view architectures, int major, int minor);

/// Why this build has no code for GPU `index`, "" where it has. Throws CudaError.
std::string lack_of_code(int index);

}  // namespace moiety
