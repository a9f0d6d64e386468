// SPDX-License-Identifier: Apache-2.0
// Times whole training steps (forward, backward, AdamW) of a language model of tokens and prints
// one JSON line, with the speed of a product of the model's shape measured in the same run:
//
//   transformer_step [--model mlm|gpt] [--batch B] [--length L] [--lengths FILE] [--layers N]
//     [--hidden C] [--heads H] [--vocabulary V] [--dropout P] [--precision f32|bf16|f16]
//     [--threads T] [--part TOKENS] [--seconds S]
//
// mlm: an encoder like RoBERTa's, 15 % of the tokens scored. gpt: a decoder like GPT-2's, all
// scored. FILE has the lengths of sequences, of which each batch takes the next B; else all have L.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "autograd/ops/elementwise.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "nn/optimizer.h"
#include "nn/parallel_step.h"
#include "nn/sequence_models.h"
#include "tensor/rng.h"

namespace moiety::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model = "mlm";
  std::string lengths;
  std::string precision = "f32";
  std::int64_t batch = 8;
  std::int64_t length = 128;
  std::int64_t layers = 6;
  std::int64_t hidden = 384;
  std::int64_t heads = 12;
  std::int64_t vocabulary = 600;
  double dropout = 0;
  int threads = 2;
  std::int64_t part = kTokensPerPart;
  double seconds = 3;
};

void set(Options& o, const std::string& flag, const std::string& value) {
  if (flag == "--model") {
    o.model = value;
  } else if (flag == "--lengths") {
    o.lengths = value;
  } else if (flag == "--precision") {
    o.precision = value;
  } else if (flag == "--batch") {
    o.batch = std::stoll(value);
  } else if (flag == "--length") {
    o.length = std::stoll(value);
  } else if (flag == "--layers") {
    o.layers = std::stoll(value);
  } else if (flag == "--hidden") {
    o.hidden = std::stoll(value);
  } else if (flag == "--heads") {
    o.heads = std::stoll(value);
  } else if (flag == "--vocabulary") {
    o.vocabulary = std::stoll(value);
  } else if (flag == "--dropout") {
    o.dropout = std::stod(value);
  } else if (flag == "--threads") {
    o.threads = std::stoi(value);
  } else if (flag == "--part") {
    o.part = std::stoll(value);
  } else if (flag == "--seconds") {
    o.seconds = std::stod(value);
  } else {
    throw UserError(concat("there is no flag ", flag));
  }
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    check<UserError>(i + 1 < argc, flag, " needs a value; the flags are described in ",
                     "bench/transformer_step.cpp");
    const std::string value = argv[++i];
    try {
      set(o, flag, value);
    } catch (const std::logic_error&) {  // of std::stoll and its like
      throw UserError(concat(flag, " takes a number, not \"", value, "\""));
    }
  }
  check<UserError>(o.model == "mlm" || o.model == "gpt", "--model takes mlm or gpt");
  check<UserError>(o.batch > 0 && o.length > 1, "batches and sequences cannot be empty");
  return o;
}

DType precision_of(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (name_of(dtype) == name) return dtype;
  }
  throw UserError(concat("--precision takes f32, bf16 or f16, not ", name));
}

std::vector<std::int64_t> lengths_of(const Options& o) {
  if (o.lengths.empty()) return {o.length};
  std::ifstream file(o.lengths);
  check<UserError>(file.good(), "cannot read ", o.lengths);
  std::vector<std::int64_t> out;
  for (std::int64_t n = 0; file >> n;) out.push_back(n);
  check<UserError>(std::ssize(out) >= o.batch, o.lengths, ": ", out.size(), " lengths for batches ",
                   "of ", o.batch);
  return out;
}

/// Random tokens, with what the model must say about them.
TokenBatch make_batch(const Options& o, const std::vector<std::int64_t>& lengths, std::size_t first,
                      Device& device) {
  const RngKey key{1, first};
  std::uint64_t place = 0;
  const auto draw = [&] {
    return static_cast<std::int32_t>(
        random_below(key, place++, static_cast<std::uint64_t>(o.vocabulary)));
  };
  std::vector<std::vector<std::int32_t>> sequences;
  std::vector<std::int32_t> labels;
  for (std::int64_t b = 0; b < o.batch; ++b) {
    const std::size_t at = (first + static_cast<std::size_t>(b)) % lengths.size();
    auto& tokens = sequences.emplace_back();
    for (std::int64_t i = 0; i < lengths[at]; ++i) tokens.push_back(draw());
    for (std::int64_t i = 0; i < lengths[at]; ++i) {
      if (o.model == "gpt") {
        labels.push_back(tokens[static_cast<std::size_t>((i + 1) % lengths[at])]);
      } else {
        labels.push_back(random_below(key, place++, 100) < 15 ? draw() : -1);
      }
    }
  }
  TokenBatch out = pack_tokens(sequences, device);
  score_labelled(out, labels);
  return out;
}

/// FLOP of a step: 2 for each multiply-add of a product, three products for one of the forward
/// pass. Causal attention counts the pairs that are seen; an encoder's last layer has queries and
/// what follows them for scored tokens alone.
double flop_of(const Options& o, const TokenBatch& batch) {
  const bool is_encoder = o.model == "mlm";
  const auto c = static_cast<double>(o.hidden);
  const auto tokens = static_cast<double>(batch.token_count());
  const auto scored = static_cast<double>(batch.scored.rows());
  double pairs = 0;
  double last_pairs = 0;
  const auto* ptr = batch.ptr.data<std::int32_t>();
  const auto* scored_ptr = batch.scored_ptr.data<std::int32_t>();
  for (std::int64_t b = 0; b < batch.sequences(); ++b) {
    const double n = ptr[b + 1] - ptr[b];
    pairs += is_encoder ? n * n : n * (n + 1) / 2;
    last_pairs += is_encoder ? n * (scored_ptr[b + 1] - scored_ptr[b]) : n * (n + 1) / 2;
  }
  const auto layer = [c](double keys, double queries, double seen) {
    return (2 * keys + 10 * queries) * c * c + 2 * seen * c;
  };
  const double layers = static_cast<double>(o.layers - 1) * layer(tokens, tokens, pairs) +
                        layer(tokens, is_encoder ? scored : tokens, last_pairs);
  const double dense = is_encoder ? c : 0;
  return 6 * (layers + scored * c * (static_cast<double>(o.vocabulary) + dense));
}

/// FLOP/s of a layer's product with all threads, at its best: what the step cannot exceed.
double product_rate(const Options& o, Device& device) {
  constexpr std::int64_t kRows = 1024;
  const Tensor a = Tensor::zeros({kRows, o.hidden}, DType::f32, device);
  const Tensor b = Tensor::zeros({4 * o.hidden, o.hidden}, DType::f32, device);
  const Tensor c = Tensor::zeros({kRows, 4 * o.hidden}, DType::f32, device);
  double best = 0;
  for (int i = 0; i < 20; ++i) {
    const auto before = Clock::now();
    kernels::gemm(device.stream(), false, true, 1.0, a, b, 0.0, c);
    const double seconds = std::chrono::duration<double>(Clock::now() - before).count();
    const auto n = static_cast<double>(kRows * o.hidden);
    best = std::max(best, 8 * n * static_cast<double>(o.hidden) / seconds);
  }
  return best;
}

template <class Model>
void run(const Options& o, Device& device) {
  const std::vector<std::int64_t> lengths = lengths_of(o);
  nn::TransformerConfig config;
  config.vocabulary = o.vocabulary;
  config.max_length = *std::max_element(lengths.begin(), lengths.end());
  config.token_types = o.model == "mlm" ? 1 : 0;
  config.hidden = o.hidden;
  config.layers = o.layers;
  config.heads = o.heads;
  config.dropout = config.attention_dropout = o.dropout;
  nn::Initializer init(device, 0);
  const Model model(init, config);
  nn::FlatParameters parameters(model);
  const nn::FlatBuffer gradients = parameters.make_buffer();
  nn::Optimizer optimizer(parameters, {.weight_decay = 0.01});
  nn::ParallelStep parallel(parameters, true);
  const DType precision = precision_of(o.precision);

  constexpr std::size_t kBatches = 8;
  std::vector<std::vector<TokenBatch>> batches;
  double flop = 0;
  double tokens = 0;
  for (std::size_t i = 0; i < kBatches; ++i) {
    const TokenBatch whole = make_batch(o, lengths, i * static_cast<std::size_t>(o.batch), device);
    flop += flop_of(o, whole) / kBatches;
    tokens += static_cast<double>(whole.token_count()) / kBatches;
    batches.push_back(cut_by_tokens(whole, o.part));
  }

  const double rate = product_rate(o, device);
  std::vector<double> milliseconds;
  double first = 0;
  double last = 0;
  constexpr std::size_t kWarmUp = kBatches;  // the allocator has seen each batch
  constexpr std::size_t kLeast = 8;
  auto start = Clock::now();
  for (std::size_t step = 0;; ++step) {
    const auto before = Clock::now();
    const auto& parts = batches[step % kBatches];
    std::int64_t scored = 0;
    for (const TokenBatch& part : parts) scored += part.scored.rows();
    gradients.flat.fill_zero();
    last = parallel.run(
        std::ssize(parts),
        [&](std::int64_t i) {
          auto context = nn::ForwardContext::training(0, step);
          if (precision != DType::f32) context.compute_in(precision);
          return ops::affine(model.loss(parts[static_cast<std::size_t>(i)], context),
                             1.0 / static_cast<double>(scored));
        },
        gradients);
    optimizer.step(gradients, 3e-4);
    const auto now = Clock::now();
    if (step == 0) first = last;
    if (step + 1 == kWarmUp) start = now;
    if (step < kWarmUp) continue;
    milliseconds.push_back(std::chrono::duration<double, std::milli>(now - before).count());
    const bool enough = std::chrono::duration<double>(now - start).count() > o.seconds;
    if (enough && milliseconds.size() >= kLeast) break;
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto at = [&](double q) {
    return milliseconds[static_cast<std::size_t>(q * static_cast<double>(milliseconds.size() - 1))];
  };
  std::printf(
      "{\"model\": \"%s\", \"precision\": \"%s\", \"dropout\": %g, \"batch\": %lld, \"tokens\": "
      "%.0f, \"parts\": %zu, \"threads\": %d, \"impl\": \"moiety\", \"p10_ms\": %.2f, "
      "\"median_ms\": %.2f, \"steps\": %zu, \"gflop\": %.2f, \"product_gflops\": %.0f, "
      "\"floor_ms\": %.1f, \"loss_first\": %.5f, \"loss_last\": %.5f}\n",
      o.model.c_str(), o.precision.c_str(), o.dropout, static_cast<long long>(o.batch), tokens,
      batches[0].size(), o.threads, at(0.1), at(0.5), milliseconds.size(), 1e-9 * flop, 1e-9 * rate,
      1e3 * flop / rate, first, last);
}

void run(const Options& o) {
  const auto device = make_cpu_device(o.threads);
  if (o.model == "mlm") {
    run<nn::MaskedLanguageModel>(o, *device);
  } else {
    run<nn::CausalLanguageModel>(o, *device);
  }
}

}  // namespace
}  // namespace moiety::bench

int main(int argc, char** argv) try {
  moiety::bench::run(moiety::bench::parse(argc, argv));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "transformer_step: %s\n", error.what());
  return 1;
}
