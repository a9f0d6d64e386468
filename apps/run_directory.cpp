// SPDX-License-Identifier: Apache-2.0
#include "apps/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kPrefix = "step_";
constexpr std::string_view kSuffix = ".ckpt";

/// The step in "step_000001200.ckpt", or nothing.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const char* first = name.data() + kPrefix.size();
  const char* last = name.data() + name.size() - kSuffix.size();
  std::int64_t step = -1;
  if (first >= last) return std::nullopt;
  const auto [stop, error] = std::from_chars(first, last, step);
  return error == std::errc() && stop == last && step >= 0 ? std::optional(step) : std::nullopt;
}

/// Calls f(line, number) for each line of `text` that is complete: it ends in a line feed.
template <class F>
void for_each_complete_line(std::string_view text, const F& f) {
  std::int64_t number = 1;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    f(text.substr(0, end), number++);
    text.remove_prefix(end + 1);
  }
}

json parse_line(std::string_view line, const fs::path& file, std::int64_t number) {
  json object = json::parse(line, nullptr, /*allow_exceptions=*/false);
  check<IoError>(object.is_object(), file.string(), ":", number, ": not a JSON object");
  return object;
}

void check_object(const json& value, const std::string& file, const std::string& place) {
  check<IoError>(value.is_object(), file, ": ", place, " is not a JSON object");
}

/// What readers take for granted: {split: {"unit": text, "targets": {name: {...}}, ...}}.
void check_scores_of_splits(const json& splits, const std::string& file, const std::string& place) {
  check_object(splits, file, place);
  for (const auto& [split, scores] : splits.items()) {
    const std::string at = concat(place, ".", split);
    check_object(scores, file, at);
    for (const char* text : {"unit", "target"}) {
      check<IoError>(scores.value(text, json("")).is_string(), file, ": ", at, ".", text,
                     " is not a text");
    }
    if (scores.contains("targets"))
      check_scores_of_splits(scores["targets"], file, at + ".targets");
  }
}

/// Whether `path` and `other` are one file that is there.
bool same_file(const fs::path& path, const fs::path& other) {
  std::error_code one_is_missing;
  return fs::equivalent(path, other, one_is_missing);
}

}  // namespace

fs::path checkpoint_path(const RunFiles& files, std::int64_t step) {
  return files.checkpoints() / fmt::format("{}{:09d}{}", kPrefix, step, kSuffix);
}

std::vector<CheckpointFile> list_checkpoints(const RunFiles& files) {
  std::vector<CheckpointFile> found;
  std::error_code error;  // a folder that is not there has no checkpoints
  for (const auto& entry : fs::directory_iterator(files.checkpoints(), error)) {
    if (const auto step = step_of(entry.path().filename().string())) {
      found.push_back({*step, entry.path()});
    }
  }
  std::ranges::sort(found, {}, &CheckpointFile::step);
  return found;
}

std::optional<CheckpointFile> newest_checkpoint(
    const RunFiles& files, const std::function<bool(const fs::path&)>& is_valid) {
  std::vector<CheckpointFile> all = list_checkpoints(files);
  std::ranges::reverse(all);
  const auto valid = std::ranges::find_if(all, is_valid, &CheckpointFile::path);
  return valid == all.end() ? std::nullopt : std::optional(*valid);
}

std::vector<json> read_metrics(const RunFiles& files) {
  std::vector<json> lines;
  if (!fs::exists(files.metrics())) return lines;
  for_each_complete_line(read_file(files.metrics()), [&](std::string_view line, std::int64_t n) {
    lines.push_back(parse_line(line, files.metrics(), n));
  });
  return lines;
}

json read_summary(const RunFiles& files) {
  json summary = json::parse(read_file(files.summary()), nullptr, /*allow_exceptions=*/false);
  const std::string name = files.summary().string();
  check<IoError>(summary.is_object(), name, ": not a JSON object");
  const json none = json::object();
  check_object(summary.value("machine", none), name, "machine");
  check_scores_of_splits(summary.value("metrics", none), name, "metrics");
  const json baselines = summary.value("baseline", none);
  check_object(baselines, name, "baseline");
  for (const auto& [baseline, splits] : baselines.items()) {
    check_scores_of_splits(splits, name, "baseline." + baseline);
  }
  return summary;
}

RunFiles open_run(const fs::path& path) {
  const RunFiles files{path};
  check<UserError>(fs::is_directory(path), path.string(), ": no such run directory");
  check<UserError>(fs::is_regular_file(files.recipe()), path.string(),
                   ": not a run directory, it has no recipe.toml");
  return files;
}

void check_not_of_run(const RunFiles& files, const fs::path& output, const fs::path& allowed) {
  std::vector<fs::path> own = {files.recipe(),      files.metrics(), files.summary(),
                               files.predictions(), files.report(),  files.lock()};
  for (const fs::path& folder : {files.checkpoints(), files.tensorboard(), files.tokenizer()}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) own.push_back(entry.path());
  }
  for (const fs::path& file : own) {
    check<UserError>(file == allowed || !same_file(output, file), "the output ", output.string(),
                     " is a file of the run ", files.root.string(),
                     ", which would be lost; write to another file");
  }
}

RunDirectory::RunDirectory(const fs::path& root, Mode mode) : files_{root} {
  if (mode == Mode::resume) open_run(root);
  std::error_code error;
  fs::create_directories(files_.checkpoints(), error);
  check<UserError>(!error, root.string(), ": cannot make the run directory: ", error.message());
  take_lock();
  const bool holds_run = fs::exists(files_.recipe()) || !list_checkpoints(files_).empty();
  if (mode == Mode::create && holds_run) {
    ::close(lock_);
    throw UserError(concat(root.string(),
                           " holds a run already: choose another directory with -o, "
                           "or go on with it with --resume"));
  }
}

RunDirectory::~RunDirectory() { ::close(lock_); }

// flock belongs to the open file, which the kernel closes when the process ends: the lock of a
// killed training blocks nobody, and the file may stay.
void RunDirectory::take_lock() {
  lock_ = ::open(files_.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  check<IoError>(lock_ >= 0, "cannot open ", files_.lock().string(), ": ", std::strerror(errno));
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  const int reason = errno;
  ::close(lock_);
  check<UserError>(reason != EWOULDBLOCK, files_.root.string(),
                   ": another process is training in this directory");
  throw IoError(concat("cannot lock ", files_.lock().string(), ": ", std::strerror(reason)));
}

void RunDirectory::write_summary(const json& summary) {
  write_atomically(files_.summary(), summary.dump(2) + "\n");
}

void RunDirectory::truncate_metrics_after(std::int64_t step) {
  metrics_.close();
  std::string kept;
  if (fs::exists(files_.metrics())) {
    for_each_complete_line(read_file(files_.metrics()), [&](std::string_view line, std::int64_t n) {
      const json object = parse_line(line, files_.metrics(), n);
      const json of_line = object.value("step", json(0));
      check<IoError>(of_line.is_number_integer(), files_.metrics().string(), ":", n,
                     ": step is not a whole number");
      if (of_line.get<std::int64_t>() > step || step == 0) return;
      kept.append(line).push_back('\n');
    });
  }
  write_atomically(files_.metrics(), kept);
}

void RunDirectory::append_metrics(const json& line) {
  if (!metrics_.is_open()) metrics_.open(files_.metrics(), std::ios::app);
  metrics_ << line.dump() << '\n' << std::flush;
  check<IoError>(metrics_.good(), "cannot write ", files_.metrics().string());
}

void RunDirectory::prune_checkpoints(std::int64_t keep) {
  std::vector<CheckpointFile> all = list_checkpoints(files_);
  const auto surplus = std::max<std::int64_t>(0, std::ssize(all) - keep);
  for (std::int64_t i = 0; i < surplus; ++i) fs::remove(all[static_cast<std::size_t>(i)].path);
  for (const auto& entry : fs::directory_iterator(files_.checkpoints())) {
    if (entry.path().extension() == ".tmp") fs::remove(entry.path());
  }
}

}  // namespace moiety::apps
