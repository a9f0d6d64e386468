// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace moiety::testing {

/// A file of tests/golden.
inline nlohmann::json read_golden(const std::string& name) {
  std::ifstream file(MOIETY_SOURCE_DIR "/tests/golden/" + name);
  return nlohmann::json::parse(file);
}

/// The first column of data/gap_gfn2.csv: its SMILES hold no commas.
inline std::vector<std::string> gap_smiles() {
  std::ifstream file(MOIETY_SOURCE_DIR "/data/gap_gfn2.csv");
  std::vector<std::string> smiles;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) smiles.push_back(line.substr(0, line.find(',')));
  return smiles;
}

}  // namespace moiety::testing
