// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "data/molecule_record.h"
#include "tensor/error.h"

namespace moiety::data {

/// A SMILES string that is no molecule. what() says why in one line; kind() is the same reason
/// without its details, for counting.
class ChemistryError : public UserError {
 public:
  ChemistryError(std::string kind, const std::string& message);
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

/// A SMILES string, read and sanitised by RDKit: explicit hydrogens are folded into their atoms.
class Molecule {
 public:
  /// What stands behind the SMILES after a blank (a title, a ChemAxon |...| extension) is not read.
  /// Throws ChemistryError for bad syntax, impossible valences or aromaticity, for no atoms at all
  /// and for more than kLongestSmiles characters: RDKit takes cubic time, 20 s for a chain of
  /// 2,000.
  explicit Molecule(std::string_view smiles);
  ~Molecule();
  Molecule(Molecule&&) noexcept;
  Molecule& operator=(Molecule&&) noexcept;

  /// The SMILES as it was given, without what stood behind it.
  const std::string& smiles() const;
  /// The graph with OGB's features; y and id are left empty.
  MoleculeRecord graph() const;
  /// The same text for the same molecule, however its SMILES was written (isomeric).
  std::string canonical_smiles() const;
  /// Another SMILES of the same molecule, written from atoms in a random order (Bjerrum,
  /// arXiv:1703.07076; "restricted" in Arus-Pous et al., J. Cheminform. 11, 71, 2019). The same
  /// seed gives the same text. Throws ChemistryError where RDKit cannot write it.
  std::string random_smiles(std::uint64_t seed) const;
  /// SMILES of the rings and the chains that join them, chirality left out (Bemis and Murcko, "The
  /// properties of known drugs", J. Med. Chem. 1996); "" for a molecule without rings.
  std::string scaffold() const;

  static constexpr std::size_t kLongestSmiles = 2'000;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The classes of the nine atom and three bond features of Open Graph Benchmark 1.3.6. An unknown
/// value takes the last class.
///
/// Atoms: atomic number, chirality, total degree, formal charge, hydrogens, radical electrons,
/// hybridisation, aromatic, in a ring. Bonds: order, stereo, conjugated.
FeatureSchema ogb_schema();

}  // namespace moiety::data
