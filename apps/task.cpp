// SPDX-License-Identifier: Apache-2.0
#include "apps/task.h"

#include "apps/graph_task.h"
#include "apps/language_task.h"
#include "apps/sequence_task.h"

namespace moiety::apps {

std::vector<RowPrediction> rows_with_problems(const std::vector<double>& values, std::size_t width,
                                              std::vector<std::string> problems) {
  std::vector<RowPrediction> out;
  auto next = values.begin();
  for (std::string& problem : problems) {
    const auto end = next + static_cast<std::ptrdiff_t>(problem.empty() ? width : 0);
    out.push_back({{next, end}, std::move(problem)});
    next = end;
  }
  return out;
}

nn::StateDictNames Task::state_dict_names(std::int64_t) const {
  throw UserError("a " + name_of(spec_.kind) +
                  " model has no counterpart among HuggingFace's; only encoders and decoders have");
}

std::unique_ptr<Task> make_task(const ModelSpec& spec, Device& device, std::uint64_t seed) {
  switch (spec.kind) {
    case ModelKind::graph:
      return std::make_unique<GraphTask>(spec, device, seed);
    case ModelKind::sequence:
      return std::make_unique<SequenceTask>(spec, device, seed);
    case ModelKind::masked_language:
      return make_masked_language_task(spec, device, seed);
    case ModelKind::causal_language:
      return make_causal_language_task(spec, device, seed);
  }
  throw Error("unknown kind of model");
}

}  // namespace moiety::apps
