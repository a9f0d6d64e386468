// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

#include "apps/recipe_keys.h"

namespace moiety::apps {

/// Checks `value` against the key's type and allowed values and stores it in the key's field.
/// Throws UserError that starts with `place` ("recipe.toml:12") and names the key.
void assign(const std::string& place, const Key& key, const toml::node& value);

/// The value as TOML.
std::string format_value(const Field& field);

/// A key that two recipes give different values, as TOML.
struct KeyChange {
  std::string_view name;
  std::string before;
  std::string after;
};

/// All such keys, in the order of the file.
std::vector<KeyChange> changed_keys(Recipe before, Recipe after);

}  // namespace moiety::apps
