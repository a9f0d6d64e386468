// SPDX-License-Identifier: Apache-2.0
#include "data/prepare.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "data/checksum.h"
#include "data/convert.h"
#include "data/dataset_writer.h"
#include "data/featurize.h"
#include "data/rejects.h"
#include "tensor/error.h"
#include "tensor/file_paths.h"
#include "tensor/thread_pool.h"

namespace moiety::data {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockRows = 4096;  // read, converted and written together
constexpr std::size_t kTaskRows = 16;     // of them one task of the pool

void check_targets(const std::vector<TargetSpec>& targets) {
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const TargetSpec& target = targets[t];
    check<UserError>(
        target.task == "regression" || target.task == "binary" || target.task == "multilabel",
        "task '", target.task, "' is not known; use regression, binary or multilabel");
    check<UserError>(target.task == targets.front().task,
                     "targets of different tasks do not fit into one data set");
    for (std::size_t other = 0; other < t; ++other) {
      check<UserError>(targets[other].name != target.name, "target '", target.name,
                       "' is named twice");
    }
  }
  check<UserError>(targets.size() <= 1 || targets.front().task != "binary",
                   "a binary task has one target; use multilabel for ", targets.size());
}

fs::path rejects_path(const PrepareOptions& options) {
  return options.output.string() + ".rejects.csv";
}

void check_files(const PrepareOptions& options) {
  check<UserError>(!options.sources.empty(), "there is no source to prepare");
  std::vector<fs::path> inputs = options.sources;
  if (options.split.kind == SplitPlan::Kind::file) inputs.push_back(options.split.file);
  for (const fs::path& input : inputs) {
    check_input_file(input);
    check_not_input(options.output, input);
    check_not_input(rejects_path(options), input);
  }
  check_output_folder(options.output);
  check<UserError>(options.overwrite || !fs::exists(options.output), options.output.string(),
                   " exists; choose another name or say that it may be overwritten");
}

std::string source_names(const std::vector<fs::path>& sources) {
  std::string names;
  for (const fs::path& source : sources) {
    names += (names.empty() ? "" : ", ") + source.filename().string();
  }
  return names;
}

/// The checksum of each source.
std::string source_checksums(const std::vector<fs::path>& sources) {
  std::string sums;
  for (const fs::path& source : sources) {
    sums += (sums.empty() ? "" : " ") + file_checksum(source.string());
  }
  return sums;
}

/// Opens every source before any is read, so that a wrong column is reported at once.
std::vector<std::unique_ptr<RowSource>> open_sources(const PrepareOptions& options) {
  SourceColumns columns = {.smiles = options.smiles_column,
                           .id = options.id_column,
                           .targets = {},
                           .split = options.split_column,
                           .delimiter = options.delimiter};
  for (const TargetSpec& target : options.targets) columns.targets.push_back(target.name);
  std::vector<std::unique_ptr<RowSource>> sources;
  for (const fs::path& path : options.sources) sources.push_back(open_source(path, columns));
  return sources;
}

/// How many are not the first of their kind.
std::int64_t count_duplicates(std::vector<std::uint64_t> fingerprints) {
  std::sort(fingerprints.begin(), fingerprints.end());
  const auto end = std::unique(fingerprints.begin(), fingerprints.end());
  return fingerprints.end() - end;
}

/// How many of `rows` are molecules that `others` hold too; fingerprints by row.
std::int64_t count_shared(const std::vector<std::uint64_t>& fingerprints,
                          const std::vector<std::int64_t>& rows,
                          const std::vector<std::int64_t>& others) {
  const auto fingerprint = [&](std::int64_t row) {
    return fingerprints[static_cast<std::size_t>(row)];
  };
  std::vector<std::uint64_t> known(others.size());
  std::ranges::transform(others, known.begin(), fingerprint);
  std::ranges::sort(known);
  return std::ranges::count_if(
      rows, [&](std::int64_t row) { return std::ranges::binary_search(known, fingerprint(row)); });
}

class Conversion {
 public:
  Conversion(const PrepareOptions& options, DatasetWriter& writer, Rejects& rejects,
             TokenPreparation& tokens, std::function<void(const PrepareProgress&)> progress)
      : options_(options),
        writer_(writer),
        rejects_(rejects),
        tokens_(tokens),
        progress_(std::move(progress)),
        pool_(options.threads),
        convert_{.targets = options.targets,
                 .scaffold = options.split.kind == SplitPlan::Kind::scaffold,
                 .split_column = options.split.kind == SplitPlan::Kind::column,
                 .graphs = options.graphs,
                 .tokenizer = tokens.tokenizer(),
                 .learn_words = tokens.learns()} {
    for (const fs::path& source : options.sources) {
      state_.total_bytes += static_cast<std::int64_t>(fs::file_size(source));
    }
  }

  void convert(const fs::path& path, RowSource& source) {
    const std::int64_t bytes_before = state_.bytes;
    for (bool more = true; more;) {
      std::size_t rows = 0;
      while (rows < kBlockRows && (more = source.next(rows_[rows]))) ++rows;
      convert_block(rows);
      for (std::size_t i = 0; i < rows; ++i) store(path, rows_[i], std::move(converted_[i]));
      state_.bytes = bytes_before + source.bytes_read();
      state_.rejected = rejects_.count();
      if (progress_) progress_(state_);
    }
  }

  /// `listed` is what the split file holds, if there is one.
  SplitIndices split(const SplitIndices& listed) const {
    const SplitPlan& plan = options_.split;
    switch (plan.kind) {
      case SplitPlan::Kind::random:
        return random_split(state_.molecules, plan.seed, plan.fractions);
      case SplitPlan::Kind::scaffold:
        return scaffold_split(scaffolds_, plan.fractions);
      case SplitPlan::Kind::column:
        return label_split(labels_);
      case SplitPlan::Kind::file:
        return rows_to_molecules(listed, molecule_of_row_, plan.file);
    }
    throw Error("unknown way to split");
  }

  std::int64_t rows() const { return std::ssize(molecule_of_row_); }
  std::int64_t molecules() const { return state_.molecules; }
  std::int64_t duplicates() const { return count_duplicates(fingerprints_); }
  std::int64_t test_in_train(const SplitIndices& splits) const {
    return count_shared(fingerprints_, splits.test, splits.train);
  }

 private:
  void convert_block(std::size_t rows) {
    const std::size_t tasks = (rows + kTaskRows - 1) / kTaskRows;
    pool_.run(static_cast<std::int64_t>(tasks), [&](std::int64_t task) {
      const std::size_t begin = static_cast<std::size_t>(task) * kTaskRows;
      for (std::size_t i = begin; i < std::min(rows, begin + kTaskRows); ++i) {
        converted_[i] = convert_row(rows_[i], convert_);
      }
    });
  }

  void store(const fs::path& path, const SourceRow& row, ConvertedRow&& converted) {
    molecule_of_row_.push_back(-1);
    if (!converted.molecule) {
      rejects_.add(path, row, converted.rejection);
      return;
    }
    writer_.append(*converted.molecule);
    tokens_.take(path, row, converted);
    molecule_of_row_.back() = state_.molecules++;
    fingerprints_.push_back(converted.fingerprint);
    if (convert_.scaffold) scaffolds_.push_back(std::move(converted.scaffold));
    if (convert_.split_column) labels_.push_back(converted.split);
  }

  const PrepareOptions& options_;
  DatasetWriter& writer_;
  Rejects& rejects_;
  TokenPreparation& tokens_;
  std::function<void(const PrepareProgress&)> progress_;
  ThreadPool pool_;
  ConvertOptions convert_;
  PrepareProgress state_;
  std::vector<SourceRow> rows_{kBlockRows};
  std::vector<ConvertedRow> converted_{kBlockRows};
  std::vector<std::int64_t> molecule_of_row_;
  std::vector<std::uint64_t> fingerprints_;
  std::vector<std::string> scaffolds_;
  std::vector<std::optional<Split>> labels_;
};

/// What is wrong with a split is said of the sources that it divides.
SplitIndices split_rows(const Conversion& conversion, const SplitIndices& listed,
                        const PrepareOptions& options) {
  try {
    return conversion.split(listed);
  } catch (const UserError& error) {
    throw UserError(concat(source_names(options.sources), ": ", error.what()));
  }
}

}  // namespace

PrepareReport prepare(const PrepareOptions& options,
                      const std::function<void(const PrepareProgress&)>& progress) {
  check_targets(options.targets);
  check<UserError>(options.graphs || options.tokens.wanted,
                   "a data set needs graphs or tokens of its molecules");
  check_files(options);
  auto sources = open_sources(options);
  const bool has_split_file = options.split.kind == SplitPlan::Kind::file;
  const SplitIndices listed = has_split_file ? read_split_file(options.split.file) : SplitIndices{};
  Rejects rejects(rejects_path(options));
  TokenPreparation tokens(options.tokens);
  DatasetWriterOptions file = {.path = options.output.string(),
                               .features = options.graphs ? ogb_schema() : FeatureSchema{},
                               .targets = options.targets,
                               .source = source_names(options.sources),
                               .source_hash = source_checksums(options.sources)};
  DatasetWriter writer(std::move(file));
  Conversion conversion(options, writer, rejects, tokens, progress);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    conversion.convert(options.sources[i], *sources[i]);
  }
  if (conversion.molecules() == 0) rejects.finish();
  check<UserError>(conversion.molecules() > 0, "none of the ", conversion.rows(), " rows of ",
                   source_names(options.sources), " is usable; see ", rejects.path().string());
  const SplitIndices splits = split_rows(conversion, listed, options);
  const TokenReport token_report = tokens.finish(writer);
  writer.finish(splits);
  rejects.finish();
  return {.rows = conversion.rows(),
          .molecules = conversion.molecules(),
          .duplicates = conversion.duplicates(),
          .rejected = rejects.count(),
          .rejected_by_kind = rejects.by_kind(),
          .rejects_file = rejects.path(),
          .train = std::ssize(splits.train),
          .valid = std::ssize(splits.valid),
          .test = std::ssize(splits.test),
          .test_in_train = conversion.test_in_train(splits),
          .tokens = token_report};
}

}  // namespace moiety::data
