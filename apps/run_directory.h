// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/text_file.h"

namespace moiety::apps {

/// The names of the files of a run.
struct RunFiles {
  std::filesystem::path root;

  std::filesystem::path recipe() const { return root / "recipe.toml"; }
  std::filesystem::path metrics() const { return root / "metrics.jsonl"; }
  std::filesystem::path summary() const { return root / "summary.json"; }
  std::filesystem::path predictions() const { return root / "predictions_test.csv"; }
  std::filesystem::path report() const { return root / "report.html"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
  std::filesystem::path tensorboard() const { return root / "tensorboard"; }
  std::filesystem::path tokenizer() const { return root / "tokenizer"; }
  std::filesystem::path lock() const { return root / ".lock"; }
};

/// One file of checkpoints/.
struct CheckpointFile {
  std::int64_t step = 0;
  std::filesystem::path path;
};

/// Where the checkpoint of a step belongs: checkpoints/step_000001200.ckpt.
std::filesystem::path checkpoint_path(const RunFiles& files, std::int64_t step);

/// The checkpoints of a run, oldest first. Files with other names are not looked at.
std::vector<CheckpointFile> list_checkpoints(const RunFiles& files);

/// The newest checkpoint that `is_valid` accepts, or none. Asks from the newest down.
std::optional<CheckpointFile> newest_checkpoint(
    const RunFiles& files, const std::function<bool(const std::filesystem::path&)>& is_valid);

/// The lines of metrics.jsonl; a torn last line (the process was killed) is left out, and a file
/// that is missing has no lines. Throws IoError naming the line that is not a JSON object.
std::vector<nlohmann::json> read_metrics(const RunFiles& files);

/// The object in summary.json. Throws IoError when it is missing, no JSON object, or its members
/// are of other types than a Summary's.
nlohmann::json read_summary(const RunFiles& files);

/// Throws UserError when `output` is one of the run's own files, whatever its name, other than
/// `allowed`.
void check_not_of_run(const RunFiles& files, const std::filesystem::path& output,
                      const std::filesystem::path& allowed);

/// Throws UserError unless `path` is the folder of a run.
RunFiles open_run(const std::filesystem::path& path);

/// The directory of a training in progress: one process writes it at a time, and every file but
/// metrics.jsonl is written beside and then renamed, so that a kill leaves no torn file.
class RunDirectory {
 public:
  enum class Mode : std::uint8_t { create, resume };

  /// `create` makes the folder, and refuses one that already holds a run; `resume` wants one that
  /// does. Throws UserError for either, and when another process trains in it. The lock belongs to
  /// the process: it goes with it, however it ends.
  RunDirectory(const std::filesystem::path& root, Mode mode);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const RunFiles& files() const { return files_; }

  /// `toml` is the resolved recipe (to_toml).
  void write_recipe(const std::string& toml) { write_atomically(files_.recipe(), toml); }
  /// A Summary's to_json().
  void write_summary(const nlohmann::json& summary);
  /// CSV of the test split.
  void write_predictions(const std::string& csv) { write_atomically(files_.predictions(), csv); }

  /// Drops the lines of metrics.jsonl after `step`, the step of the checkpoint that training goes
  /// on from, so that the curve has no point twice. Step 0 empties it.
  void truncate_metrics_after(std::int64_t step);
  /// Appends one line and flushes it. `line` is an object; see MetricsLine in metrics.h.
  void append_metrics(const nlohmann::json& line);

  /// Removes all but the newest `keep` checkpoints, and what a killed writer left beside them.
  void prune_checkpoints(std::int64_t keep);

 private:
  void take_lock();

  RunFiles files_;
  int lock_ = -1;
  std::ofstream metrics_;
};

}  // namespace moiety::apps
