// SPDX-License-Identifier: Apache-2.0
#include "data/dataset.h"

#include <algorithm>
#include <mutex>

#include "data/dataset_columns.h"
#include "data/file_seal.h"
#include "data/hdf5_reader.h"
#include "data/mapped_file.h"
#include "data/schema.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

/// Extents closer than this are read as one: a seek costs more than reading over the gap.
constexpr std::int64_t kCoalesceBytes = std::int64_t{64} << 10;

template <class T>
std::vector<T> to_vector(const T* values, std::int64_t count) {
  return count > 0 ? std::vector<T>(values, values + count) : std::vector<T>();
}

/// The first `count` values as i32.
std::vector<std::int32_t> widen(const FeatureRows& rows, std::int64_t count) {
  if (rows.wide != nullptr) return to_vector(rows.wide, count);
  return count > 0 ? std::vector<std::int32_t>(rows.narrow, rows.narrow + count)
                   : std::vector<std::int32_t>();
}

FeatureRows from_row(const FeatureRows& rows, std::int64_t first_value) {
  return {rows.narrow ? rows.narrow + first_value : nullptr,
          rows.wide ? rows.wide + first_value : nullptr};
}

}  // namespace

struct Dataset::Impl {
  /// HDF5 sees the file only after its checksums were found right: it trusts what it reads.
  Impl(const std::string& path, std::int64_t most_in_memory)
      : file(path, most_in_memory),
        sections(verify_seal(file)),
        hdf5(path),
        info(read_attributes(file, hdf5)),
        columns(read_columns(file, sections, hdf5, info)) {}

  std::size_t row(std::int64_t molecule) const {
    check<ShapeError>(molecule >= 0 && molecule < info.molecules, file.path(), ": molecule ",
                      molecule, " is out of range: there are ", info.molecules);
    return static_cast<std::size_t>(molecule);
  }
  /// The row of a molecule whose graph is wanted.
  std::size_t graph_row(std::int64_t molecule) const {
    check<UserError>(info.has_graphs, file.path(),
                     ": holds tokens alone, no graphs; make it with `moiety prepare --target`");
    return row(molecule);
  }
  std::vector<std::string> texts(const char* name, std::span<const std::int64_t> rows) const {
    file.check_unchanged();
    const std::lock_guard lock(hdf5_mutex);
    return hdf5.read_texts(name, rows);
  }
  /// `node` is the first of the molecule's atoms.
  void copy_graph(const MoleculeView& view, std::int64_t node, MoleculeRecord& out) const;
  void prefetch(const void* values, std::int64_t bytes_each, std::span<const std::int64_t> pointers,
                std::span<const std::int64_t> ascending) const;

  MappedFile file;
  std::vector<FileSection> sections;
  Hdf5Reader hdf5;
  mutable std::mutex hdf5_mutex;
  DatasetInfo info;
  DatasetColumns columns;
};

/// Of a column of which `pointers` counts entries of `bytes_each` bytes.
void Dataset::Impl::prefetch(const void* values, std::int64_t bytes_each,
                             std::span<const std::int64_t> pointers,
                             std::span<const std::int64_t> ascending) const {
  if (values == nullptr) return;
  const std::int64_t base = static_cast<const std::byte*>(values) - file.bytes().data();
  std::int64_t begin = base;
  std::int64_t end = base;
  for (const std::int64_t molecule : ascending) {
    const std::size_t m = row(molecule);
    const std::int64_t next = base + pointers[m] * bytes_each;
    if (next - end > kCoalesceBytes) {
      if (end > begin) file.prefetch(begin, end - begin);
      begin = next;
    }
    end = base + pointers[m + 1] * bytes_each;
  }
  if (end > begin) file.prefetch(begin, end - begin);
}

Dataset::Dataset(const std::string& path, std::int64_t most_in_memory)
    : impl_(std::make_shared<Impl>(path, most_in_memory)) {}

const DatasetInfo& Dataset::info() const { return impl_->info; }

std::int64_t Dataset::atoms(std::int64_t molecule) const {
  const std::size_t m = impl_->graph_row(molecule);
  return impl_->columns.node_ptr[m + 1] - impl_->columns.node_ptr[m];
}

std::int64_t Dataset::edges(std::int64_t molecule) const {
  const std::size_t m = impl_->graph_row(molecule);
  return impl_->columns.edge_ptr[m + 1] - impl_->columns.edge_ptr[m];
}

std::span<const std::int32_t> Dataset::tokens(std::int64_t molecule) const {
  const std::size_t m = impl_->row(molecule);
  check<UserError>(info().has_tokens, path(),
                   ": holds no tokens; make it with `moiety prepare --tokenizer` or --task mlm");
  const auto ptr = impl_->columns.token_ptr.subspan(m, 2);
  return impl_->columns.token_ids.subspan(static_cast<std::size_t>(ptr[0]),
                                          static_cast<std::size_t>(ptr[1] - ptr[0]));
}

std::span<const double> Dataset::targets(std::int64_t molecule) const {
  const std::size_t count = info().targets.size();
  return impl_->columns.y.subspan(impl_->row(molecule) * count, count);
}

MoleculeView Dataset::view(std::int64_t molecule) const {
  const DatasetColumns& columns = impl_->columns;
  const std::size_t m = impl_->graph_row(molecule);
  const std::int64_t node = columns.node_ptr[m];
  const std::int64_t edge = columns.edge_ptr[m];
  MoleculeView out;
  out.atoms = columns.node_ptr[m + 1] - node;
  out.edges = columns.edge_ptr[m + 1] - edge;
  out.x = from_row(columns.x, node * std::ssize(info().features.atom_dims));
  out.edge_attr = from_row(columns.attr, edge * std::ssize(info().features.bond_dims));
  out.edge_src = columns.src.data() + edge;
  out.edge_dst = columns.dst.data() + edge;
  out.y = targets(molecule);
  return out;
}

void Dataset::Impl::copy_graph(const MoleculeView& view, std::int64_t node,
                               MoleculeRecord& out) const {
  out.x = widen(view.x, view.atoms * std::ssize(info.features.atom_dims));
  out.z = to_vector(columns.z.data() + node, view.atoms);
  if (info.has_positions) out.pos = to_vector(columns.pos.data() + 3 * node, 3 * view.atoms);
  out.edge_src = to_vector(view.edge_src, view.edges);
  out.edge_dst = to_vector(view.edge_dst, view.edges);
  out.edge_attr = widen(view.edge_attr, view.edges * std::ssize(info.features.bond_dims));
}

MoleculeRecord Dataset::record(std::int64_t molecule) const {
  const auto y = targets(molecule);
  MoleculeRecord out;
  if (info().has_graphs) {
    const std::int64_t node = impl_->columns.node_ptr[impl_->row(molecule)];
    impl_->copy_graph(view(molecule), node, out);
  }
  out.y.assign(y.begin(), y.end());
  out.smiles = std::move(smiles({&molecule, 1})[0]);
  out.id = std::move(ids({&molecule, 1})[0]);
  return out;
}

std::span<const std::int64_t> Dataset::split(Split split) const {
  return impl_->columns.splits.at(static_cast<std::size_t>(split));
}

std::vector<std::string> Dataset::smiles(std::span<const std::int64_t> molecules) const {
  return impl_->texts(schema::kSmiles, molecules);
}

std::vector<std::string> Dataset::ids(std::span<const std::int64_t> molecules) const {
  return impl_->texts(schema::kIds, molecules);
}

void Dataset::prefetch(std::span<const std::int64_t> molecules) const {
  std::vector<std::int64_t> ascending(molecules.begin(), molecules.end());
  std::ranges::sort(ascending);
  const DatasetColumns& columns = impl_->columns;
  const auto of_features = [&](const FeatureRows& rows, const std::vector<std::int32_t>& dims,
                               std::span<const std::int64_t> pointers) {
    impl_->prefetch(rows.narrow, std::ssize(dims), pointers, ascending);
    impl_->prefetch(rows.wide, 4 * std::ssize(dims), pointers, ascending);
  };
  of_features(columns.x, info().features.atom_dims, columns.node_ptr);
  of_features(columns.attr, info().features.bond_dims, columns.edge_ptr);
  impl_->prefetch(columns.src.data(), 4, columns.edge_ptr, ascending);
  impl_->prefetch(columns.dst.data(), 4, columns.edge_ptr, ascending);
  impl_->prefetch(columns.token_ids.data(), 4, columns.token_ptr, ascending);
}

void Dataset::check_unchanged() const {
  if (impl_->file.mapped()) impl_->file.check_unchanged();
}

}  // namespace moiety::data
