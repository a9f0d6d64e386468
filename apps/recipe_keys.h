// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/recipe.h"

namespace moiety::apps {

/// Where the value of a key lives in a Recipe.
using Field =
    std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::string>*, Span*>;

/// The numbers that a key takes; of a Span, its count.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_included = true;
  bool high_included = true;

  bool contains(double value) const;
};

/// The words that a key takes, and those that a later version will take.
struct OneOf {
  std::vector<std::string_view> words;
  std::vector<std::string_view> later;
};

struct Anything {};

/// Everything that is known of one key of a recipe, except its default: that stands in recipe.h.
struct Key {
  enum class Scope : std::uint8_t { all, graphs, tokens };

  std::string_view name;  ///< "train.lr"
  Field field;
  std::variant<Anything, Range, OneOf> allowed;
  std::string_view help;
  /// What other programs call it; used to suggest the right name.
  std::vector<std::string_view> also_called;
  Scope scope = Scope::all;  ///< models that it says something of

  std::string_view section() const { return name.substr(0, name.find('.')); }
  std::string_view leaf() const { return name.substr(name.find('.') + 1); }
};

/// The keys of a recipe, in the order of the file. They point into `recipe`.
std::vector<Key> recipe_keys(Recipe& recipe);

/// What a key takes, for people: "at least 1", "one of gcn, gin, gine", "true or false".
std::string describe_allowed(const Key& key);

}  // namespace moiety::apps
