// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <string>

#include "apps/recipe_keys.h"

namespace moiety::apps {

/// Checks `value` against the key's type and allowed values and stores it in the key's field.
/// Throws UserError that starts with `place` ("recipe.toml:12") and names the key.
void assign(const std::string& place, const Key& key, const toml::node& value);

/// The value as TOML.
std::string format_value(const Field& field);

}  // namespace moiety::apps
