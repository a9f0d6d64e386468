// SPDX-License-Identifier: Apache-2.0
#include "data/units.h"

#include <array>
#include <utility>

#include "data/text.h"

namespace moiety::data {

std::string unit_from_name(std::string_view column) {
  using Entry = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Entry, 9> kUnits = {{{"_ev", "eV"},
                                            {"_mev", "meV"},
                                            {"_hartree", "hartree"},
                                            {"_debye", "debye"},
                                            {"_bohr", "bohr"},
                                            {"_angstrom", "angstrom"},
                                            {"_kcal_mol", "kcal/mol"},
                                            {"_kj_mol", "kJ/mol"},
                                            {"_nm", "nm"}}};
  const std::string name = to_lower(column);
  for (const auto& [suffix, unit] : kUnits) {
    if (name.ends_with(suffix)) return std::string(unit);
  }
  return "";
}

}  // namespace moiety::data
