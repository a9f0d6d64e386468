// SPDX-License-Identifier: Apache-2.0
#include "apps/molecule_scores.h"

#include <algorithm>
#include <vector>

#include "data/dataset.h"
#include "data/featurize.h"
#include "data/row_source.h"
#include "tensor/checksum.h"

namespace moiety::apps {
namespace {

using Molecules = std::vector<std::optional<std::uint64_t>>;

/// Nothing for what is no molecule. RDKit reads a SMILES up to the first blank: a text with one is
/// none.
std::optional<std::uint64_t> molecule_of(const std::string& text) {
  if (text.find_first_of(" \t\r\n|") != std::string::npos) return std::nullopt;
  try {
    const std::string canonical = data::Molecule(text).canonical_smiles();
    return xxh64(std::as_bytes(std::span(canonical)));
  } catch (const data::ChemistryError&) {
    return std::nullopt;
  }
}

Molecules molecules_of(std::span<const std::string> texts, ThreadPool& pool) {
  constexpr std::int64_t kTexts = 64;  // of a task
  Molecules out(texts.size());
  const auto count = static_cast<std::int64_t>(texts.size());
  pool.run((count + kTexts - 1) / kTexts, [&](std::int64_t chunk) {
    for (std::int64_t i = chunk * kTexts; i < std::min(count, (chunk + 1) * kTexts); ++i) {
      const auto at = static_cast<std::size_t>(i);
      out[at] = molecule_of(texts[at]);
    }
  });
  return out;
}

constexpr std::size_t kRowsAtATime = 4096;

void add_dataset(const std::filesystem::path& file, ThreadPool& pool,
                 const std::function<void(double)>& on_progress, MoleculeSet& to) {
  const data::Dataset dataset(file.string());
  const std::span<const std::int64_t> rows = dataset.split(data::Split::train);
  for (std::size_t begin = 0; begin < rows.size(); begin += kRowsAtATime) {
    const auto some = rows.subspan(begin, std::min(kRowsAtATime, rows.size() - begin));
    for (const auto& molecule : molecules_of(dataset.smiles(some), pool)) {
      if (molecule) to.insert(*molecule);
    }
    on_progress(static_cast<double>(begin + some.size()) / static_cast<double>(rows.size()));
  }
}

void add_table(const std::filesystem::path& file, ThreadPool& pool,
               const std::function<void(double)>& on_progress, MoleculeSet& to) {
  const auto source = data::open_source(file, {});
  const auto bytes = static_cast<double>(std::filesystem::file_size(file));
  std::vector<std::string> texts;
  data::SourceRow row;
  for (bool more = true; more;) {
    more = source->next(row);
    if (more) texts.push_back(row.smiles);
    if (texts.empty() || (more && texts.size() < kRowsAtATime)) continue;
    for (const auto& molecule : molecules_of(texts, pool)) {
      if (molecule) to.insert(*molecule);
    }
    texts.clear();
    on_progress(static_cast<double>(source->bytes_read()) / bytes);
  }
}

}  // namespace

MoleculeScores score_molecules(std::span<const std::string> texts, const MoleculeSet* trained,
                               ThreadPool& pool) {
  MoleculeScores out;
  out.texts = static_cast<std::int64_t>(texts.size());
  MoleculeSet seen;
  std::int64_t novel = 0;
  for (const auto& molecule : molecules_of(texts, pool)) {
    if (!molecule) continue;
    ++out.valid;
    if (!seen.insert(*molecule).second) continue;
    ++out.unique;
    if (trained != nullptr && !trained->contains(*molecule)) ++novel;
  }
  if (trained != nullptr) out.novel = novel;
  return out;
}

MoleculeSet read_molecules(const std::filesystem::path& file, ThreadPool& pool,
                           const std::function<void(double)>& on_progress) {
  MoleculeSet out;
  const bool is_dataset = file.extension() == ".h5";
  (is_dataset ? add_dataset : add_table)(file, pool, on_progress, out);
  return out;
}

}  // namespace moiety::apps
