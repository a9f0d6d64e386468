// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace moiety::data {

/// What GPT-2's pre-tokenisation tells apart: Unicode's White_Space, the categories L* and N*, and
/// everything else.
enum class CharClass { space, letter, number, other };

CharClass char_class(char32_t code);

}  // namespace moiety::data
