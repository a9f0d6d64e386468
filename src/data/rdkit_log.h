// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace moiety::data {

/// Gathers what RDKit writes to its error log on this thread while it lives: the only place where
/// RDKit says why a SMILES string does not parse. Any number of threads may capture at once.
class RdkitErrorCapture {
 public:
  RdkitErrorCapture();

  /// The text so far, time stamps included.
  const std::string& text() const;
};

}  // namespace moiety::data
