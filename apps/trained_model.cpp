// SPDX-License-Identifier: Apache-2.0
#include "apps/trained_model.h"

#include <array>
#include <fstream>

#include "apps/huggingface_folder.h"
#include "apps/pyg_folder.h"
#include "apps/run_directory.h"
#include "apps/run_results.h"
#include "nn/checkpoint_tensors.h"

namespace moiety::apps {

// Safetensors: eight bytes of length, then JSON.
bool is_checkpoint(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 9> start{};
  return in.read(start.data(), start.size()) && start.back() == '{';
}

std::unique_ptr<Task> load_model(const std::filesystem::path& checkpoint, Device& device) {
  const nn::Checkpoint loaded = nn::Checkpoint::load(checkpoint, device);
  auto task = make_task(model_spec_from_state(loaded.state, checkpoint.string()), device);
  nn::restore_module(loaded, task->model());
  return task;
}

std::filesystem::path weights_of(const std::filesystem::path& run_or_checkpoint) {
  if (std::filesystem::is_regular_file(run_or_checkpoint)) {
    check<UserError>(is_checkpoint(run_or_checkpoint), run_or_checkpoint.string(),
                     " is neither a run directory nor a checkpoint");
    return run_or_checkpoint;
  }
  std::filesystem::path best = best_model_path(open_run(run_or_checkpoint));
  check<UserError>(std::filesystem::exists(best), run_or_checkpoint.string(),
                   " holds no trained model yet (no ", best.filename().string(),
                   "); train at least to the first validation");
  return best;
}

std::unique_ptr<Task> load_model_of(const std::filesystem::path& run_or_checkpoint,
                                    Device& device) {
  const std::filesystem::path& path = run_or_checkpoint;
  if (std::filesystem::exists(path / "config.json") &&
      !std::filesystem::exists(path / "recipe.toml")) {
    return is_pyg_folder(path) ? load_pyg_folder(path, device)
                               : load_huggingface_folder(path, device);
  }
  return load_model(weights_of(run_or_checkpoint), device);
}

}  // namespace moiety::apps
