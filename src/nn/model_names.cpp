// SPDX-License-Identifier: Apache-2.0
#include "nn/model_names.h"

#include <array>
#include <string_view>

namespace moiety::nn {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kConvs = {"gcn", "gin", "gine"};
constexpr std::array<std::string_view, 3> kPools = {"mean", "sum", "max"};
constexpr std::array<std::string_view, 3> kNorms = {"none", "layer", "batch"};
constexpr std::array<std::string_view, 5> kActivations = {"relu", "silu", "gelu", "tanh",
                                                          "gelu_tanh"};
constexpr std::array<std::string_view, 2> kRowNorms = {"layer", "rms"};
constexpr std::array<std::string_view, 2> kPositions = {"learned", "rotary"};

template <class Enum, std::size_t n>
Enum parse(const std::array<std::string_view, n>& names, const char* what,
           const std::string& name) {
  std::string valid;
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
    valid += (i ? ", " : "") + std::string(names[i]);
  }
  throw UserError(concat(what, " '", name, "' is unknown; use one of ", valid));
}

template <class Enum, std::size_t n>
std::string spell(const std::array<std::string_view, n>& names, Enum kind) {
  return std::string(names[static_cast<std::size_t>(kind)]);
}

}  // namespace

std::string name_of(ConvKind kind) { return spell(kConvs, kind); }
std::string name_of(PoolKind kind) { return spell(kPools, kind); }
std::string name_of(NormKind kind) { return spell(kNorms, kind); }
std::string name_of(Activation kind) { return spell(kActivations, kind); }
std::string name_of(RowNormKind kind) { return spell(kRowNorms, kind); }
std::string name_of(PositionKind kind) { return spell(kPositions, kind); }

ConvKind parse_conv(const std::string& name) { return parse<ConvKind>(kConvs, "layer type", name); }
PoolKind parse_pool(const std::string& name) { return parse<PoolKind>(kPools, "pooling", name); }
NormKind parse_norm(const std::string& name) { return parse<NormKind>(kNorms, "norm", name); }
Activation parse_activation(const std::string& name) {
  return parse<Activation>(kActivations, "activation", name);
}
RowNormKind parse_row_norm(const std::string& name) {
  return parse<RowNormKind>(kRowNorms, "norm", name);
}
PositionKind parse_positions(const std::string& name) {
  return parse<PositionKind>(kPositions, "kind of positions", name);
}

}  // namespace moiety::nn
