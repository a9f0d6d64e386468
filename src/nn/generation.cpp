// SPDX-License-Identifier: Apache-2.0
#include "nn/generation.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "autograd/grad_mode.h"
#include "autograd/ops/elementwise.h"
#include "nn/key_value_cache.h"
#include "nn/random_streams.h"

namespace moiety::nn {
namespace {

// 32 rows are enough for products to run near their best on a CPU core, where each group has a
// thread of its own. A GPU is left waiting by fewer than some hundred.
constexpr std::int64_t kFewRows = 32;
constexpr std::int64_t kRowsOnGpu = 256;

/// Number `index` of a stream, uniform in [0, 1) with 53 bits.
double uniform_f64(RngKey key, std::uint64_t index) {
  const auto words = philox(key, index);
  const std::uint64_t bits = (std::uint64_t{words[0]} << 32) | words[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// The sequences of one generation, which groups take one after the other.
struct Work {
  Work(std::span<const TokenSequence> prompts, const GenerationOptions& how, std::int64_t most,
       const std::function<void(std::int64_t)>& progress)
      : sequences(prompts.begin(), prompts.end()),
        options(how),
        longest(how.max_length > 0 ? how.max_length : most),
        on_progress(progress) {}

  std::vector<TokenSequence> sequences;
  GenerationOptions options;
  std::int64_t longest;
  std::atomic<std::int64_t> next = 0;
  std::mutex mutex;
  std::int64_t done = 0;
  const std::function<void(std::int64_t)>& on_progress;

  TokenSequence& sequence(std::int64_t i) { return sequences[static_cast<std::size_t>(i)]; }
  void finish_one() {
    if (!on_progress) return;
    const std::lock_guard lock(mutex);
    on_progress(++done);
  }
};

/// Some rows that go through the model together. A row whose sequence has ended takes the next one,
/// so that few are ever idle.
class Group {
 public:
  Group(const CausalLanguageModel& model, Work& work, Device& device)
      : model_(model),
        work_(work),
        rows_(static_cast<std::size_t>(generation_rows(device, std::ssize(work.sequences)))),
        tokens_(rows_.size()),
        positions_(rows_.size()),
        sampler_(work.options.sampling),
        cache_(model.config(), std::ssize(rows_), work.longest, model.parameters().front().dtype(),
               device) {}

  /// Takes at most `most` sequences at a time until there are no more.
  void run(std::int64_t most) {
    for (std::int64_t r = 0; r < std::min(most, std::ssize(rows_)); ++r) {
      take_next(rows_[static_cast<std::size_t>(r)]);
    }
    while (std::any_of(rows_.begin(), rows_.end(), [](const Row& r) { return r.sequence >= 0; })) {
      step();
    }
  }

 private:
  struct Row {
    std::int64_t sequence = -1;  ///< none: what is computed for the row is not looked at
    std::int64_t read = 0;       ///< tokens that the model has seen
    RngKey key;
  };

  bool is_complete(const TokenSequence& sequence) const {
    return std::ssize(sequence) >= work_.longest;
  }

  void take_next(Row& row) {
    row = {};
    while (true) {
      const std::int64_t i = work_.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= std::ssize(work_.sequences)) return;
      row.sequence = i;
      row.key = derive_key(work_.options.seed, streams::kSampling, static_cast<std::uint64_t>(i));
      if (!is_complete(work_.sequence(i))) return;
      work_.finish_one();
      row = {};
    }
  }

  void step() {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const Row& row = rows_[r];
      const bool idle = row.sequence < 0;
      tokens_[r] = idle ? 0 : work_.sequence(row.sequence)[static_cast<std::size_t>(row.read)];
      positions_[r] = static_cast<std::int32_t>(row.read);
    }
    const Variable scores = model_.next_scores(tokens_, positions_, cache_);
    const auto numbers = ops::cast(scores, DType::f32).data().to_vector<float>();
    const auto width = static_cast<std::size_t>(scores.size(1));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (rows_[r].sequence >= 0) go_on(rows_[r], std::span(numbers).subspan(r * width, width));
    }
  }

  /// The row's token has been read, and these are the scores of the next.
  void go_on(Row& row, std::span<const float> scores) {
    TokenSequence& sequence = work_.sequence(row.sequence);
    if (++row.read < std::ssize(sequence)) return;  // the prompt goes on
    const double uniform = uniform_f64(row.key, static_cast<std::uint64_t>(row.read));
    sequence.push_back(sampler_.draw(scores, uniform));
    if (!is_complete(sequence) && sequence.back() != work_.options.end_token) return;
    work_.finish_one();
    take_next(row);
  }

  const CausalLanguageModel& model_;
  Work& work_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> tokens_;     // [R]
  std::vector<std::int32_t> positions_;  // [R]
  TokenSampler sampler_;
  KeyValueCache cache_;
};

std::int64_t ceiling(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

std::int64_t generation_rows(const Device& device, std::int64_t count) {
  return device.is_cuda() && count > kFewRows ? kRowsOnGpu : kFewRows;
}

std::vector<TokenSequence> generate(const CausalLanguageModel& model,
                                    std::span<const TokenSequence> prompts,
                                    const GenerationOptions& options,
                                    const std::function<void(std::int64_t)>& on_progress) {
  const std::int64_t most = model.config().max_length;
  check<UserError>(options.max_length >= 0 && options.batch_size >= 0,
                   "the length and number of sequences must not be negative");
  check<UserError>(options.max_length <= most, "sequences of ", options.max_length,
                   " tokens were asked for, and the model takes at most ", most);
  check_rule(options.sampling);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    check<UserError>(!prompts[i].empty(), "prompt ", i + 1,
                     " is empty; it needs at least the token that begins a text");
    check<UserError>(std::ssize(prompts[i]) <= most, "prompt ", i + 1, " has ", prompts[i].size(),
                     " tokens, and the model takes at most ", most);
  }
  if (prompts.empty()) return {};
  Work work(prompts, options, most, on_progress);

  const autograd::NoGrad no_grad;
  Device& device = model.parameters().front().device();
  const auto count = static_cast<std::int64_t>(prompts.size());
  const std::int64_t rows = generation_rows(device, count);
  if (device.is_cuda()) {  // one group after the other would wait for the GPU no less
    Group(model, work, device).run(rows);
    return std::move(work.sequences);
  }
  std::int64_t groups =
      std::min<std::int64_t>(device.stream().pool().threads(), ceiling(count, rows));
  if (options.batch_size > 0) groups = std::min(groups, ceiling(options.batch_size, rows));
  device.stream().pool().run(
      groups, [&](std::int64_t) { Group(model, work, device).run(ceiling(count, groups)); });
  return std::move(work.sequences);
}

}  // namespace moiety::nn
