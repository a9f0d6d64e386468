// SPDX-License-Identifier: Apache-2.0
#include "data/dataset_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/dataset_check.h"
#include "data/file_seal.h"
#include "data/hdf5_writer.h"
#include "data/partial_file.h"
#include "data/schema.h"
#include "data/spool.h"
#include "data/tokenizer_record.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

/// The last bin of the degree histogram also counts what is beyond.
constexpr std::int64_t kMaxDegree = 1023;

std::int64_t width(const std::vector<std::int32_t>& dims) { return std::ssize(dims); }

struct TargetMoments {
  std::vector<double> mean;
  std::vector<double> sd;
};

}  // namespace

struct DatasetWriter::Impl {
  explicit Impl(DatasetWriterOptions given)
      : options(std::move(given)),
        x_type(schema::feature_dtype(options.features.atom_dims)),
        attr_type(schema::feature_dtype(options.features.bond_dims)) {
    node_ptr.append(atoms);
    edge_ptr.append(edges);
  }

  void append(const MoleculeRecord& molecule);
  TokenTotals add_tokens(const Tokenizer& tokenizer);
  void append_features(Spool& spool, const std::vector<std::int32_t>& values, DType type);
  void count_degrees(const MoleculeRecord& molecule);

  TargetMoments target_moments(const std::vector<std::int64_t>& train);
  template <class F>
  void for_each_target_row(const std::vector<bool>& wanted, const F& f);

  void write(Hdf5Writer& file, const SplitIndices& splits, const TargetMoments& moments);
  void write_graphs(Hdf5Writer& file);
  void write_tokens(Hdf5Writer& file);
  static void write_column(Hdf5Writer& file, const char* name, DType type, const Shape& shape,
                           Spool& spool);
  void write_attributes(Hdf5Writer& file, const TargetMoments& moments) const;

  std::int64_t target_count() const { return std::ssize(options.targets); }
  bool has_graphs() const { return !options.features.atom_dims.empty(); }
  bool has_tokens() const { return !tokenizer.empty(); }

  DatasetWriterOptions options;
  DType x_type;
  DType attr_type;
  Spool node_ptr{options.path}, edge_ptr{options.path}, x{options.path}, z{options.path};
  Spool pos{options.path}, src{options.path}, dst{options.path}, attr{options.path};
  Spool y{options.path}, smiles{options.path}, ids{options.path};
  Spool token_ptr{options.path}, token_ids{options.path};
  std::string tokenizer;  ///< JSON; "" until add_tokens()
  std::int64_t molecules = 0;
  std::int64_t atoms = 0;
  std::int64_t edges = 0;
  TokenTotals token_totals;
  std::vector<std::int64_t> degree_histogram;
  std::vector<std::uint8_t> narrowed;  // scratch
  std::vector<std::int64_t> degrees;   // scratch
};

void DatasetWriter::Impl::append_features(Spool& spool, const std::vector<std::int32_t>& values,
                                          DType type) {
  if (type == DType::i32) return spool.append(values);
  narrowed.assign(values.begin(), values.end());
  spool.append(narrowed);
}

void DatasetWriter::Impl::count_degrees(const MoleculeRecord& molecule) {
  degrees.assign(molecule.z.size(), 0);
  for (const std::int32_t atom : molecule.edge_dst) ++degrees[static_cast<std::size_t>(atom)];
  for (const std::int64_t degree : degrees) {
    const auto bin = static_cast<std::size_t>(std::min(degree, kMaxDegree));
    if (bin >= degree_histogram.size()) degree_histogram.resize(bin + 1);
    ++degree_histogram[bin];
  }
}

void DatasetWriter::Impl::append(const MoleculeRecord& molecule) {
  const auto problem =
      problem::with_molecule(molecule, options.features, options.targets, options.positions);
  check<UserError>(!problem, problem.value_or(""));
  append_features(x, molecule.x, x_type);
  z.append(molecule.z);
  pos.append(molecule.pos);
  src.append(molecule.edge_src);
  dst.append(molecule.edge_dst);
  append_features(attr, molecule.edge_attr, attr_type);
  y.append(molecule.y);
  smiles.append_text(molecule.smiles);
  ids.append_text(molecule.id);
  count_degrees(molecule);
  ++molecules;
  atoms += std::ssize(molecule.z);
  edges += std::ssize(molecule.edge_src);
  node_ptr.append(atoms);
  edge_ptr.append(edges);
}

DatasetWriter::TokenTotals DatasetWriter::Impl::add_tokens(const Tokenizer& with) {
  tokenizer = tokenizer_json(with);
  smiles.rewind();
  token_ptr.append(std::int64_t{0});
  for (std::int64_t m = 0; m < molecules; ++m) {
    const std::string text = smiles.read_text();
    try {
      const std::vector<std::int32_t> encoded = with.encode(text).ids;
      check<UserError>(!encoded.empty(), "it has no tokens");
      token_ids.append(encoded);
      token_totals.tokens += std::ssize(encoded);
      token_totals.longest = std::max<std::int64_t>(token_totals.longest, std::ssize(encoded));
    } catch (const UserError& error) {
      throw UserError(concat(options.path, ": molecule ", m, ", '", text, "': ", error.what()));
    }
    token_ptr.append(token_totals.tokens);
  }
  return token_totals;
}

/// Calls f(t, value) for the targets that are there of the molecules wanted, in row order.
template <class F>
void DatasetWriter::Impl::for_each_target_row(const std::vector<bool>& wanted, const F& f) {
  y.rewind();
  std::vector<double> row(options.targets.size());
  for (const bool in : wanted) {
    y.read(std::as_writable_bytes(std::span(row)));
    for (std::size_t t = 0; in && t < row.size(); ++t) {
      if (!std::isnan(row[t])) f(t, row[t]);
    }
  }
}

/// Two passes: exact enough for energies, whose mean is far larger than their spread.
TargetMoments DatasetWriter::Impl::target_moments(const std::vector<std::int64_t>& train) {
  std::vector<bool> wanted(static_cast<std::size_t>(molecules));
  for (const std::int64_t row : train) wanted[static_cast<std::size_t>(row)] = true;
  const std::size_t targets = options.targets.size();
  std::vector<double> count(targets);
  TargetMoments out{std::vector<double>(targets), std::vector<double>(targets)};
  for_each_target_row(wanted, [&](std::size_t t, double value) {
    count[t] += 1;
    out.mean[t] += value;
  });
  for (std::size_t t = 0; t < targets; ++t) out.mean[t] /= std::max(count[t], 1.0);
  for_each_target_row(wanted, [&](std::size_t t, double value) {
    out.sd[t] += (value - out.mean[t]) * (value - out.mean[t]);
  });
  for (std::size_t t = 0; t < targets; ++t) {
    out.sd[t] = std::sqrt(out.sd[t] / std::max(count[t], 1.0));
    if (!(out.sd[t] > 0)) out.sd[t] = 1;
  }
  return out;
}

void DatasetWriter::Impl::write(Hdf5Writer& file, const SplitIndices& splits,
                                const TargetMoments& moments) {
  for (const char* group : {"/target", "/meta", "/split"}) file.make_group(group);
  if (has_graphs()) write_graphs(file);
  if (has_tokens()) write_tokens(file);
  const auto texts = [&](const char* name, Spool& spool) {
    spool.rewind();
    file.write_texts(name, molecules, [&] { return spool.read_text(); });
  };
  const auto rows = [&](const char* name, const std::vector<std::int64_t>& values) {
    auto rest = std::as_bytes(std::span(values));
    file.write_column(name, DType::i64, {std::ssize(values)}, [&](std::span<std::byte> block) {
      std::memcpy(block.data(), rest.data(), block.size());
      rest = rest.subspan(block.size());
    });
  };
  write_column(file, schema::kTargetY, DType::f64, {molecules, target_count()}, y);
  rows(schema::kTrain, splits.train);
  rows(schema::kValid, splits.valid);
  rows(schema::kTest, splits.test);
  texts(schema::kSmiles, smiles);
  texts(schema::kIds, ids);
  write_attributes(file, moments);
}

void DatasetWriter::Impl::write_column(Hdf5Writer& file, const char* name, DType type,
                                       const Shape& shape, Spool& spool) {
  spool.rewind();
  file.write_column(name, type, shape, [&](std::span<std::byte> block) { spool.read(block); });
}

void DatasetWriter::Impl::write_graphs(Hdf5Writer& file) {
  for (const char* group : {"/graph", "/node", "/edge"}) file.make_group(group);
  const auto& features = options.features;
  write_column(file, schema::kNodePtr, DType::i64, {molecules + 1}, node_ptr);
  write_column(file, schema::kEdgePtr, DType::i64, {molecules + 1}, edge_ptr);
  write_column(file, schema::kNodeX, x_type, {atoms, width(features.atom_dims)}, x);
  write_column(file, schema::kNodeZ, DType::u8, {atoms}, z);
  if (options.positions) write_column(file, schema::kNodePos, DType::f32, {atoms, 3}, pos);
  write_column(file, schema::kEdgeSrc, DType::i32, {edges}, src);
  write_column(file, schema::kEdgeDst, DType::i32, {edges}, dst);
  write_column(file, schema::kEdgeAttr, attr_type, {edges, width(features.bond_dims)}, attr);
}

void DatasetWriter::Impl::write_tokens(Hdf5Writer& file) {
  file.make_group(schema::kToken);
  write_column(file, schema::kTokenIds, DType::i32, {token_totals.tokens}, token_ids);
  write_column(file, schema::kTokenPtr, DType::i64, {molecules + 1}, token_ptr);
  file.set_attribute(schema::kToken, "tokenizer", tokenizer);
}

void DatasetWriter::Impl::write_attributes(Hdf5Writer& file, const TargetMoments& moments) const {
  const auto integers = [](const std::vector<std::int32_t>& values) {
    return std::vector<std::int64_t>(values.begin(), values.end());
  };
  std::vector<std::string> names, units, tasks;
  for (const TargetSpec& target : options.targets) {
    names.push_back(target.name);
    units.push_back(target.unit);
    tasks.push_back(target.task);
  }
  file.set_attribute("/", "schema", std::string(schema::kName));
  file.set_attribute("/", "schema_version",
                     has_tokens() ? schema::kVersionWithTokens : schema::kVersion);
  file.set_attribute("/", "featuriser", options.features.featuriser);
  file.set_attribute("/", "atom_dims", integers(options.features.atom_dims));
  file.set_attribute("/", "bond_dims", integers(options.features.bond_dims));
  file.set_attribute("/", "degree_histogram", degree_histogram);
  file.set_attribute("/", "target_mean", moments.mean);
  file.set_attribute("/", "target_sd", moments.sd);
  file.set_attribute("/", "source", options.source);
  file.set_attribute("/", "source_hash", options.source_hash);
  file.set_attribute(schema::kTargetY, "names", names);
  file.set_attribute(schema::kTargetY, "units", units);
  file.set_attribute(schema::kTargetY, "tasks", tasks);
}

DatasetWriter::DatasetWriter(DatasetWriterOptions options) {
  const auto problem = problem::with_schema(options.features, options.targets);
  check<UserError>(!problem, options.path, ": ", problem.value_or(""));
  impl_ = std::make_unique<Impl>(std::move(options));
}

DatasetWriter::~DatasetWriter() = default;

void DatasetWriter::append(const MoleculeRecord& molecule) {
  check(impl_ != nullptr && !impl_->has_tokens(), "append to a data set that is finished");
  impl_->append(molecule);
}

std::int64_t DatasetWriter::size() const { return impl_ ? impl_->molecules : 0; }

DatasetWriter::TokenTotals DatasetWriter::add_tokens(const Tokenizer& tokenizer) {
  check(impl_ != nullptr && !impl_->has_tokens(), "add_tokens to a data set that is finished");
  return impl_->add_tokens(tokenizer);
}

void DatasetWriter::finish(const SplitIndices& splits) {
  check(impl_ != nullptr, "finish of a data set that is finished");
  const std::string& path = impl_->options.path;
  check<UserError>(impl_->molecules > 0, path, ": there are no molecules to write");
  check<UserError>(impl_->has_graphs() || impl_->has_tokens(), path,
                   ": the featuriser has no atom columns, and there are no tokens");
  const auto problem =
      problem::with_splits(splits.train, splits.valid, splits.test, impl_->molecules);
  check<UserError>(!problem, path, ": ", problem.value_or(""));
  const auto closing = std::move(impl_);  // a writer that failed here is closed as well
  PartialFile partial(path);
  Hdf5Writer file(partial.path());
  closing->write(file, splits, closing->target_moments(splits.train));
  file.close();
  write_seal(partial.path(), file.columns());
  partial.place();
}

}  // namespace moiety::data
