// SPDX-License-Identifier: Apache-2.0
#include "data/featurize.h"

#include <GraphMol/ChemTransforms/ChemTransforms.h>
#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/rdkit_log.h"
#include "data/text.h"
#include "tensor/rng.h"

namespace moiety::data {
namespace {

using RDKit::Atom;
using RDKit::Bond;
using RDKit::ROMol;

constexpr std::array<std::int32_t, 9> kAtomDims = {119, 5, 12, 12, 10, 6, 6, 2, 2};
constexpr std::array<std::int32_t, 3> kBondDims = {5, 6, 2};

/// Keeps the orders of atoms apart from random numbers of other purposes under the same seed.
constexpr std::uint64_t kRandomSmiles = 0x736D696C6573;  // "smiles"

/// The place of `value` in first..last, or the class behind them.
template <class Number>
std::int32_t range_class(Number value, int first, int last) {
  const int v = static_cast<int>(value);
  return v >= first && v <= last ? v - first : last - first + 1;
}

/// The place of `value` in the list, or `other`.
template <class T, std::size_t kSize>
std::int32_t list_class(T value, const std::array<T, kSize>& list, std::size_t other) {
  const auto place =
      static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
  return static_cast<std::int32_t>(place < kSize ? place : other);
}

std::array<std::int32_t, 9> atom_features(const Atom& atom, const RDKit::RingInfo& rings) {
  constexpr std::array kChirality = {Atom::CHI_UNSPECIFIED, Atom::CHI_TETRAHEDRAL_CW,
                                     Atom::CHI_TETRAHEDRAL_CCW, Atom::CHI_OTHER};
  constexpr std::array kHybridisation = {Atom::SP, Atom::SP2, Atom::SP3, Atom::SP3D, Atom::SP3D2};
  return {range_class(atom.getAtomicNum(), 1, 118),
          list_class(atom.getChiralTag(), kChirality, kChirality.size()),
          range_class(atom.getTotalDegree(), 0, 10),
          range_class(atom.getFormalCharge(), -5, 5),
          range_class(atom.getTotalNumHs(), 0, 8),
          range_class(atom.getNumRadicalElectrons(), 0, 4),
          list_class(atom.getHybridization(), kHybridisation, kHybridisation.size()),
          atom.getIsAromatic() ? 1 : 0,
          rings.numAtomRings(atom.getIdx()) > 0 ? 1 : 0};
}

std::array<std::int32_t, 3> bond_features(const Bond& bond) {
  constexpr std::array kOrder = {Bond::SINGLE, Bond::DOUBLE, Bond::TRIPLE, Bond::AROMATIC};
  constexpr std::array kStereo = {Bond::STEREONONE, Bond::STEREOZ,     Bond::STEREOE,
                                  Bond::STEREOCIS,  Bond::STEREOTRANS, Bond::STEREOANY};
  return {list_class(bond.getBondType(), kOrder, kOrder.size()),
          list_class(bond.getStereo(), kStereo, kStereo.size() - 1),
          bond.getIsConjugated() ? 1 : 0};
}

void add_atoms(const ROMol& mol, MoleculeRecord& record) {
  record.x.reserve(mol.getNumAtoms() * kAtomDims.size());
  for (const Atom* atom : mol.atoms()) {
    const auto features = atom_features(*atom, *mol.getRingInfo());
    record.x.insert(record.x.end(), features.begin(), features.end());
    record.z.push_back(static_cast<std::uint8_t>(atom->getAtomicNum()));
  }
}

void add_edges(const ROMol& mol, MoleculeRecord& record) {
  struct Edge {
    std::int32_t dst, src;
    const Bond* bond;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * mol.getNumBonds());
  for (const Bond* bond : mol.bonds()) {
    const auto a = static_cast<std::int32_t>(bond->getBeginAtomIdx());
    const auto b = static_cast<std::int32_t>(bond->getEndAtomIdx());
    edges.push_back({a, b, bond});
    edges.push_back({b, a, bond});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& l, const Edge& r) {
    return std::pair(l.dst, l.src) < std::pair(r.dst, r.src);
  });
  for (const Edge& edge : edges) {
    record.edge_src.push_back(edge.src);
    record.edge_dst.push_back(edge.dst);
    const auto features = bond_features(*edge.bond);
    record.edge_attr.insert(record.edge_attr.end(), features.begin(), features.end());
  }
}

/// The reason in what RDKit logged: "[12:00:00] SMILES Parse Error: reason", more lines behind it.
std::string logged_reason(std::string_view log) {
  constexpr std::string_view kPrefix = "SMILES Parse Error: ";
  std::string_view line = log.substr(0, log.find('\n'));
  if (line.starts_with('[')) line.remove_prefix(std::min(line.find(']') + 1, line.size()));
  const auto prefix = line.find(kPrefix);
  if (prefix != std::string_view::npos) line.remove_prefix(prefix + kPrefix.size());
  line = trim(line);
  return line.empty() ? "not a SMILES string" : std::string(line);
}

std::string one_line(std::string_view text) {
  std::string out(trim(text));
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

/// Refuses what RDKit would take for the end of the string or spend minutes on.
void check_text(std::string_view smiles) {
  if (smiles.empty()) throw ChemistryError("empty", "there is no SMILES");
  if (smiles.size() > Molecule::kLongestSmiles) {
    throw ChemistryError("too long", concat("a SMILES of ", smiles.size(), " characters; at most ",
                                            Molecule::kLongestSmiles));
  }
  const auto odd =
      std::find_if(smiles.begin(), smiles.end(), [](char c) { return c < '!' || c > '~'; });
  if (odd != smiles.end()) {
    throw ChemistryError("syntax", concat("character ", odd - smiles.begin() + 1,
                                          " of the SMILES is not printable ASCII"));
  }
}

std::unique_ptr<ROMol> parse(const std::string& smiles) {
  RDKit::SmilesParserParams params;
  params.allowCXSMILES = false;
  params.parseName = false;
  const RdkitErrorCapture log;
  try {
    std::unique_ptr<ROMol> mol(RDKit::SmilesToMol(smiles, params));
    if (!mol) throw ChemistryError("syntax", logged_reason(log.text()));
    return mol;
  } catch (const RDKit::AtomValenceException& error) {
    throw ChemistryError("valence", one_line(error.what()));
  } catch (const RDKit::MolSanitizeException& error) {
    throw ChemistryError("aromaticity", one_line(error.what()));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw ChemistryError("chemistry", one_line(error.what()));
  }
}

}  // namespace

struct Molecule::Impl {
  std::string smiles;
  std::unique_ptr<ROMol> mol;
};

ChemistryError::ChemistryError(std::string kind, const std::string& message)
    : UserError(message), kind_(std::move(kind)) {}

Molecule::Molecule(std::string_view smiles) : impl_(std::make_unique<Impl>()) {
  const std::string_view text = trim(smiles);
  impl_->smiles = text.substr(0, text.find_first_of(" \t\r\n"));
  check_text(impl_->smiles);
  impl_->mol = parse(impl_->smiles);
  if (impl_->mol->getNumAtoms() == 0) throw ChemistryError("empty", "the molecule has no atoms");
}

Molecule::~Molecule() = default;
Molecule::Molecule(Molecule&&) noexcept = default;
Molecule& Molecule::operator=(Molecule&&) noexcept = default;

const std::string& Molecule::smiles() const { return impl_->smiles; }

MoleculeRecord Molecule::graph() const {
  MoleculeRecord record;
  add_atoms(*impl_->mol, record);
  add_edges(*impl_->mol, record);
  record.smiles = impl_->smiles;
  return record;
}

std::string Molecule::canonical_smiles() const { return RDKit::MolToSmiles(*impl_->mol); }

std::string Molecule::random_smiles(std::uint64_t seed) const {
  const RngKey key = derive_key(seed, kRandomSmiles, 0);
  std::vector<unsigned> order(impl_->mol->getNumAtoms());
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random_below(key, i, i)]);
  }
  RDKit::SmilesWriteParams params;
  params.canonical = false;
  try {
    const std::unique_ptr<ROMol> renumbered(RDKit::MolOps::renumberAtoms(*impl_->mol, order));
    return RDKit::MolToSmiles(*renumbered, params);
  } catch (const std::runtime_error& error) {
    throw ChemistryError("chemistry", one_line(error.what()));
  }
}

std::string Molecule::scaffold() const {
  const std::unique_ptr<ROMol> scaffold(RDKit::MurckoDecompose(*impl_->mol));
  if (!scaffold || scaffold->getNumAtoms() == 0) return "";
  scaffold->updatePropertyCache(false);
  RDKit::MolOps::symmetrizeSSSR(*scaffold);
  constexpr bool kIsomeric = false;
  return RDKit::MolToSmiles(*scaffold, kIsomeric);
}

FeatureSchema ogb_schema() {
  return {"ogb-1.3.6", {kAtomDims.begin(), kAtomDims.end()}, {kBondDims.begin(), kBondDims.end()}};
}

}  // namespace moiety::data
