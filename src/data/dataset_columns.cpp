// SPDX-License-Identifier: Apache-2.0
#include "data/dataset_columns.h"

#include <algorithm>
#include <string>

#include "data/dataset_check.h"
#include "data/schema.h"
#include "data/tokenizer_record.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

/// Reads the columns of one file.
class ColumnReader {
 public:
  ColumnReader(const MappedFile& file, std::span<const FileSection> sections,
               const Hdf5Reader& hdf5)
      : file_(file), sections_(sections), hdf5_(hdf5) {}

  /// The elements of a column; `expected` is its shape, with -1 for any extent.
  template <class T>
  std::span<const T> column(const char* name, const Shape& expected) const {
    const Hdf5Column found = hdf5_.locate(name, kDTypeOf<T>, expected.ndim());
    for (int d = 0; d < expected.ndim(); ++d) {
      check<IoError>(expected[d] < 0 || found.shape[d] == expected[d], file_.path(), ": ", name,
                     ": has shape ", found.shape, " instead of ", expected);
    }
    if (found.bytes == 0) return {};
    const FileSection section = {name, found.offset, found.bytes};
    check<IoError>(std::ranges::find(sections_, section) != sections_.end(), file_.path(), ": ",
                   name, ": is not where the seal says");
    check<IoError>(found.offset % static_cast<std::int64_t>(alignof(T)) == 0, file_.path(), ": ",
                   name, ": is not aligned");
    const std::byte* data = file_.bytes().data() + found.offset;
    return {reinterpret_cast<const T*>(data), static_cast<std::size_t>(found.shape.numel())};
  }

  std::span<const std::int64_t> pointers(const char* name) const {
    const auto values = column<std::int64_t>(name, {-1});
    check_that(problem::with_pointers(values, values.empty() ? 0 : values.back()), name);
    return values;
  }

  FeatureRows features(const char* name, std::int64_t rows,
                       const std::vector<std::int32_t>& dims) const {
    const Shape shape = {rows, std::ssize(dims)};
    FeatureRows out;
    if (schema::feature_dtype(dims) == DType::u8) {
      out.narrow = column<std::uint8_t>(name, shape).data();
    } else {
      out.wide = column<std::int32_t>(name, shape).data();
    }
    if (shape.numel() > 0) check_that(problem::with_classes(out, rows, dims), name);
    return out;
  }

  void check_that(const std::optional<std::string>& problem, const std::string& name) const {
    check<IoError>(!problem, file_.path(), ": ", name, ": ", problem.value_or(""));
  }

 private:
  const MappedFile& file_;
  std::span<const FileSection> sections_;
  const Hdf5Reader& hdf5_;
};

std::vector<std::int32_t> to_dims(const std::vector<std::int64_t>& values) {
  std::vector<std::int32_t> dims(values.size());
  std::ranges::transform(values, dims.begin(), [](std::int64_t value) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 0, 1 << 30));
  });
  return dims;
}

std::vector<TargetSpec> read_targets(const std::string& path, const Hdf5Reader& hdf5) {
  const auto names = hdf5.texts(schema::kTargetY, "names");
  const auto units = hdf5.texts(schema::kTargetY, "units");
  const auto tasks = hdf5.texts(schema::kTargetY, "tasks");
  check<IoError>(units.size() == names.size() && tasks.size() == names.size(), path, ": ",
                 schema::kTargetY, ": its attributes differ in length");
  std::vector<TargetSpec> targets;
  for (std::size_t t = 0; t < names.size(); ++t) targets.push_back({names[t], units[t], tasks[t]});
  return targets;
}

void check_edges(const ColumnReader& reader, const DatasetColumns& columns) {
  for (std::size_t m = 0; m + 1 < columns.edge_ptr.size(); ++m) {
    const auto begin = static_cast<std::size_t>(columns.edge_ptr[m]);
    const auto count = static_cast<std::size_t>(columns.edge_ptr[m + 1]) - begin;
    const std::int64_t atoms = columns.node_ptr[m + 1] - columns.node_ptr[m];
    const auto problem = problem::with_edges(columns.src.subspan(begin, count),
                                             columns.dst.subspan(begin, count), atoms);
    if (problem) reader.check_that(concat("molecule ", m, ": ", *problem), "/edge");
  }
}

void read_graphs(const ColumnReader& reader, const MappedFile& file, const Hdf5Reader& hdf5,
                 DatasetColumns& out, DatasetInfo& info) {
  out.node_ptr = reader.pointers(schema::kNodePtr);
  out.edge_ptr = reader.pointers(schema::kEdgePtr);
  info.molecules = std::ssize(out.node_ptr) - 1;
  info.atoms = out.node_ptr.back();
  info.edges = out.edge_ptr.back();
  check<IoError>(out.edge_ptr.size() == out.node_ptr.size(), file.path(), ": ", schema::kEdgePtr,
                 ": is not as long as ", schema::kNodePtr);
  out.x = reader.features(schema::kNodeX, info.atoms, info.features.atom_dims);
  out.z = reader.column<std::uint8_t>(schema::kNodeZ, {info.atoms});
  info.has_positions = hdf5.exists(schema::kNodePos);
  if (info.has_positions) out.pos = reader.column<float>(schema::kNodePos, {info.atoms, 3});
  out.src = reader.column<std::int32_t>(schema::kEdgeSrc, {info.edges});
  out.dst = reader.column<std::int32_t>(schema::kEdgeDst, {info.edges});
  check_edges(reader, out);
  out.attr = reader.features(schema::kEdgeAttr, info.edges, info.features.bond_dims);
}

void read_tokens(const ColumnReader& reader, const MappedFile& file, DatasetColumns& out,
                 DatasetInfo& info) {
  out.token_ptr = reader.pointers(schema::kTokenPtr);
  const std::int64_t molecules = std::ssize(out.token_ptr) - 1;
  check<IoError>(!info.has_graphs || molecules == info.molecules, file.path(), ": ",
                 schema::kTokenPtr, ": is not as long as ", schema::kNodePtr);
  info.molecules = molecules;
  info.tokens = out.token_ptr.back();
  out.token_ids = reader.column<std::int32_t>(schema::kTokenIds, {info.tokens});
  reader.check_that(problem::with_tokens(out.token_ptr, out.token_ids, info.vocabulary),
                    schema::kToken);
  for (std::size_t m = 1; m < out.token_ptr.size(); ++m) {
    const std::int64_t length = out.token_ptr[m] - out.token_ptr[m - 1];
    info.longest_tokens = std::max(info.longest_tokens, length);
  }
}

void fill_sizes(const DatasetColumns& columns, DatasetInfo& info) {
  info.train = std::ssize(columns.splits[0]);
  info.valid = std::ssize(columns.splits[1]);
  info.test = std::ssize(columns.splits[2]);
  if (info.molecules == 0 || !info.has_graphs) return;
  info.mean_atoms = static_cast<double>(info.atoms) / static_cast<double>(info.molecules);
  info.min_atoms = info.atoms;
  for (std::size_t m = 0; m + 1 < columns.node_ptr.size(); ++m) {
    const std::int64_t size = columns.node_ptr[m + 1] - columns.node_ptr[m];
    info.min_atoms = std::min(info.min_atoms, size);
    info.max_atoms = std::max(info.max_atoms, size);
  }
}

}  // namespace

DatasetInfo read_attributes(const MappedFile& file, const Hdf5Reader& hdf5) {
  DatasetInfo info;
  info.path = file.path();
  info.file_bytes = std::ssize(file.bytes());
  info.checksum = content_checksum(file);
  info.schema = hdf5.text("/", "schema");
  info.schema_version = hdf5.integer("/", "schema_version");
  check<IoError>(info.schema == schema::kName && info.schema_version >= schema::kVersion &&
                     info.schema_version <= schema::kVersionWithTokens,
                 file.path(), ": holds ", info.schema, " version ", info.schema_version,
                 "; this program reads ", schema::kName, " versions ", schema::kVersion, " and ",
                 schema::kVersionWithTokens, ": make it again with `moiety prepare`");
  info.features.featuriser = hdf5.text("/", "featuriser");
  info.features.atom_dims = to_dims(hdf5.integers("/", "atom_dims"));
  info.features.bond_dims = to_dims(hdf5.integers("/", "bond_dims"));
  info.degree_histogram = hdf5.integers("/", "degree_histogram");
  info.targets = read_targets(file.path(), hdf5);
  info.target_mean = hdf5.reals("/", "target_mean");
  info.target_sd = hdf5.reals("/", "target_sd");
  check<IoError>(info.target_mean.size() == info.targets.size() &&
                     info.target_sd.size() == info.targets.size(),
                 file.path(), ": attributes target_mean, target_sd: not one value a target");
  const auto problem = problem::with_schema(info.features, info.targets);
  check<IoError>(!problem, file.path(), ": attributes: ", problem.value_or(""));
  info.has_graphs = !info.features.atom_dims.empty();
  info.has_tokens = hdf5.exists(schema::kTokenIds);
  check<IoError>(info.has_graphs || info.has_tokens, file.path(),
                 ": holds neither graphs nor tokens");
  if (info.has_tokens) {
    info.tokenizer = hdf5.text(schema::kToken, "tokenizer");
    const std::string name = concat(file.path(), ": ", schema::kToken, ": attribute tokenizer");
    info.vocabulary = tokenizer_from_json(info.tokenizer, name)->vocabulary().size();
  }
  info.source = hdf5.text("/", "source");
  info.source_hash = hdf5.text("/", "source_hash");
  return info;
}

DatasetColumns read_columns(const MappedFile& file, std::span<const FileSection> sections,
                            const Hdf5Reader& hdf5, DatasetInfo& info) {
  const ColumnReader reader(file, sections, hdf5);
  DatasetColumns out;
  if (info.has_graphs) read_graphs(reader, file, hdf5, out, info);
  if (info.has_tokens) read_tokens(reader, file, out, info);
  out.y = reader.column<double>(schema::kTargetY, {info.molecules, std::ssize(info.targets)});
  reader.check_that(problem::with_targets(out.y, info.targets), schema::kTargetY);
  out.splits = {reader.column<std::int64_t>(schema::kTrain, {-1}),
                reader.column<std::int64_t>(schema::kValid, {-1}),
                reader.column<std::int64_t>(schema::kTest, {-1})};
  reader.check_that(
      problem::with_splits(out.splits[0], out.splits[1], out.splits[2], info.molecules), "/split");
  for (const char* name : {schema::kSmiles, schema::kIds}) {
    check<IoError>(hdf5.count_texts(name) == info.molecules, file.path(), ": ", name,
                   ": does not have one text a molecule");
  }
  fill_sizes(out, info);
  return out;
}

}  // namespace moiety::data
