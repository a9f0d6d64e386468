// SPDX-License-Identifier: Apache-2.0
#include "apps/recipe_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace moiety::apps {
namespace {

Key key(std::string_view name, Field field, decltype(Key::allowed) allowed, std::string_view help,
        std::vector<std::string_view> also_called = {}) {
  return {name, field, std::move(allowed), help, std::move(also_called)};
}

Key of_graphs(Key key) {
  key.scope = Key::Scope::graphs;
  return key;
}

Key of_tokens(Key key) {
  key.scope = Key::Scope::tokens;
  return key;
}

Range at_least(double low) { return {.low = low}; }
Range above(double low) { return {.low = low, .low_included = false}; }
Range between(double low, double high) { return {.low = low, .high = high}; }
/// [0, 1): a probability that must not be certain.
Range fraction() { return {.low = 0, .high = 1, .high_included = false}; }

std::vector<Key> data_keys(DataRecipe& data) {
  return {
      key("data.path", &data.path, Anything{}, "The data set, made by `moiety prepare`.",
          {"file", "dataset", "data", "input"}),
      key("data.target", &data.target, Anything{}, "Targets to train on; [] = all of the data set.",
          {"targets", "label", "labels", "y"}),
      key("data.batch_size", &data.batch_size, between(1, 1 << 20), "Molecules in a batch.",
          {"batch", "minibatch", "bs"}),
      of_graphs(key("data.node_budget", &data.node_budget, at_least(0),
                    "Graph networks: atoms in a batch at most, with edge_budget in place of "
                    "batch_size; 0 = by batch_size.",
                    {"max_nodes", "max_atoms"})),
      of_graphs(key("data.edge_budget", &data.edge_budget, at_least(0),
                    "Graph networks: edges in a batch at most (a bond is two), with node_budget; "
                    "0 = by batch_size.",
                    {"max_edges", "max_bonds"})),
      of_tokens(key("data.token_budget", &data.token_budget, at_least(0),
                    "encoder, decoder: tokens in a batch at most, in place of batch_size; 0 = by "
                    "batch_size.",
                    {"max_tokens", "tokens_per_batch"})),
      of_tokens(key("data.augment", &data.augment, OneOf{{"none", "random_smiles"}, {}},
                    "encoder, decoder: random_smiles trains on another SMILES of each molecule in "
                    "every epoch.",
                    {"augmentation", "randomize", "randomise"})),
      of_tokens(key("data.too_long", &data.too_long, OneOf{{"error", "truncate", "skip"}, {}},
                    "encoder, decoder: what to do with molecules of more than model.max_length "
                    "tokens: refuse the data set, cut them, or leave them out.",
                    {"truncation", "overlong"})),
      key("data.standardize", &data.standardize, Anything{},
          "Train on (y - mean) / sd of the training set. Metrics stay in the target's unit.",
          {"normalize", "normalise", "standardise", "scale"}),
  };
}

std::vector<Key> model_keys(ModelRecipe& model) {
  return {
      key("model.type", &model.type, OneOf{{"gcn", "gin", "gine", "encoder", "decoder"}, {}},
          "Graph network: gcn (Kipf and Welling), gin, or gine (gin that reads the bond features); "
          "with model.attention a graph transformer. "
          "Transformer of SMILES: encoder (RoBERTa) or decoder (GPT-2).",
          {"name", "model", "arch", "architecture", "conv"}),
      key("model.hidden", &model.hidden, between(1, 65536), "Channels of each layer.",
          {"hidden_channels", "hidden_size", "hidden_dim", "dim", "width", "channels"}),
      key("model.layers", &model.layers, between(1, 256), "Layers.",
          {"num_layers", "n_layers", "depth"}),
      key("model.activation", &model.activation,
          OneOf{{"relu", "silu", "gelu", "tanh", "gelu_tanh"}, {}}, "Between layers.",
          {"act", "nonlinearity"}),
      key("model.norm", &model.norm, OneOf{{"none", "layer", "batch", "rms"}, {}},
          "Graph networks: none, layer or batch, after each layer; batch ties molecules together: "
          "no parts in parallel, so slower on CPUs. encoder, decoder: layer or rms.",
          {"normalization", "normalisation"}),
      key("model.dropout", &model.dropout, fraction(), "Share of channels dropped in training.",
          {"dropout_rate", "drop"}),
      of_graphs(key("model.residual", &model.residual, Anything{},
                    "Graph networks: add a layer's input to its output.", {"skip", "residuals"})),
      of_graphs(key("model.pool", &model.pool, OneOf{{"mean", "sum", "max"}, {}},
                    "Graph networks: how the atoms of a molecule are joined.",
                    {"pooling", "readout", "aggregation"})),
      of_graphs(key("model.head_layers", &model.head_layers, between(1, 16),
                    "Graph networks: linear layers from the pooled molecule to the targets.",
                    {"mlp_layers"})),
      of_graphs(key("model.attention", &model.attention, Anything{},
                    "Graph networks: attention among all atoms of a molecule beside the messages "
                    "along bonds (GPS).",
                    {"gps", "global_attention", "transformer"})),
      key("model.heads", &model.heads, between(1, 1024),
          "Heads of attention: of encoder, decoder, and where model.attention is true.",
          {"num_heads", "n_heads", "n_head", "num_attention_heads"}),
      key("model.attention_dropout", &model.attention_dropout, fraction(),
          "Share of attention's weights dropped in training.",
          {"attn_dropout", "attn_pdrop", "attention_probs_dropout_prob"}),
  };
}

std::vector<Key> transformer_keys(ModelRecipe& model) {
  std::vector<Key> keys = {
      key("model.key_heads", &model.key_heads, between(0, 1024),
          "encoder, decoder: heads of keys and values, each shared by as many heads of queries; 0 "
          "= as many as heads.",
          {"kv_heads", "num_key_value_heads"}),
      key("model.inner", &model.inner, between(0, 262144),
          "encoder, decoder: channels within the feed-forward layer; 0 = 4 hidden.",
          {"intermediate_size", "ffn", "n_inner", "d_ff"}),
      key("model.gated", &model.gated, Anything{},
          "encoder, decoder: a gate beside the feed-forward layer; with silu: SwiGLU.",
          {"swiglu", "glu"}),
      key("model.positions", &model.positions, OneOf{{"learned", "rotary"}, {}},
          "encoder, decoder: how a token knows its place.", {"position_embedding", "rope"}),
      key("model.max_length", &model.max_length, between(1, 1 << 20),
          "encoder, decoder: tokens of the longest SMILES.",
          {"max_len", "n_positions", "max_position_embeddings", "context"}),
      key("model.vocabulary", &model.vocabulary, between(0, 1 << 24),
          "encoder, decoder: tokens that there is room for; 0 = as many as the tokenizer has.",
          {"vocab_size"}),
      key("model.token_types", &model.token_types, between(0, 1024),
          "encoder, decoder: rows of a type embedding of which the first is added to all tokens; "
          "RoBERTa has 1, GPT-2 none.",
          {"type_vocab_size"}),
      key("model.norm_eps", &model.norm_eps, above(0),
          "encoder, decoder: added to the variance in norms.",
          {"layer_norm_eps", "layer_norm_epsilon"}),
      key("model.init_from", &model.init_from, Anything{},
          "encoder, decoder: a run or a folder in HuggingFace's layout whose weights, but for the "
          "head, training begins with; the keys of the model's shape are taken from there.",
          {"pretrained", "checkpoint", "init", "finetune"}),
  };
  for (Key& key : keys) key.scope = Key::Scope::tokens;
  return keys;
}

std::vector<Key> training_keys(TrainRecipe& train) {
  return {
      key("train.task", &train.task, OneOf{{"auto", "targets", "language"}, {}},
          "targets: learn those of the data set; language: an encoder guesses hidden tokens, a "
          "decoder the next one; auto: targets where the data set has any.",
          {"objective", "mode"}),
      key("train.epochs", &train.epochs, between(1, 1e9), "Passes over the training set.",
          {"max_epochs", "num_epochs", "n_epochs"}),
      key("train.max_steps", &train.max_steps, at_least(0),
          "Stop after this many optimizer steps; 0 = no limit.", {"steps", "num_steps"}),
      key("train.seed", &train.seed, at_least(0),
          "Of the initial weights, the order of the molecules and dropout.", {"random_seed"}),
      key("train.precision", &train.precision, OneOf{{"f32", "tf32", "bf16", "f16"}, {"f64"}},
          "Number format between the weights and the loss, which stay f32: bf16 and f16 are faster "
          "and take half the memory. On a GPU tf32 rounds the factors of products alone.",
          {"dtype", "amp", "fp16", "bf16"}),
      key("train.loss_scale", &train.loss_scale, between(1, 16777216),
          "f16: what the loss is multiplied with at first, a power of two; it halves when a "
          "gradient overflows.",
          {"init_scale", "grad_scale"}),
      key("train.loss_scale_interval", &train.loss_scale_interval, between(1, 1e9),
          "f16: good steps after which the loss scale doubles.", {"growth_interval"}),
      key("train.recompute", &train.recompute, Anything{},
          "Keep only the input of each layer and compute the layer again in the backward pass: "
          "less "
          "memory, about a third more time.",
          {"checkpoint_activations", "gradient_checkpointing", "activation_checkpointing"}),
      key("train.accumulate", &train.accumulate, between(1, 1e6),
          "Batches whose gradients are averaged into one optimizer step.",
          {"accumulation", "gradient_accumulation", "accumulate_grad_batches"}),
      key("train.loss", &train.loss,
          OneOf{{"auto", "mae", "mse", "huber", "bce", "cross_entropy"}, {}},
          "What is minimised. mae, mse, huber: of measurements; bce: of classes; cross_entropy: of "
          "tokens; auto: the first that fits.",
          {"criterion", "loss_fn"}),
      key("train.huber_delta", &train.huber_delta, above(0),
          "Where the Huber loss turns from square to linear, in the units trained on.", {"delta"}),
      of_tokens(key("train.mask_probability", &train.mask_probability,
                    Range{.low = 0, .high = 1, .low_included = false, .high_included = false},
                    "encoder: share of the tokens that are hidden and guessed.",
                    {"mlm_probability", "mask_prob", "mlm_prob"})),
      key("train.clip_norm", &train.clip_norm, at_least(0),
          "Scale the gradient down to this norm where it is larger; 0 = off.",
          {"clip", "grad_clip", "max_norm", "gradient_clip_val", "max_grad_norm"}),
      key("train.early_stop_patience", &train.early_stop_patience, at_least(0),
          "Stop after this many validations without a better one; 0 = off.",
          {"patience", "early_stopping", "early_stop"}),
      key("train.ema", &train.ema, fraction(),
          "Decay of the moving average of the weights that is validated and kept; 0 = off.",
          {"ema_decay"}),
  };
}

std::vector<Key> optimizer_keys(TrainRecipe& train) {
  return {
      key("train.optimizer", &train.optimizer, OneOf{{"sgd", "adam", "adamw"}, {}},
          "How gradients become steps.", {"optim", "optimiser"}),
      key("train.lr", &train.lr, Range{.low = 0, .high = 1e3, .low_included = false},
          "Learning rate at its highest.", {"learning_rate", "learningrate", "max_lr", "base_lr"}),
      key("train.weight_decay", &train.weight_decay, at_least(0),
          "adamw: decoupled from the gradient; adam and sgd: added to it.", {"wd", "l2", "decay"}),
      key("train.no_decay", &train.no_decay, Anything{},
          "Weights whose name contains one of these do not decay; biases and norms never do.",
          {"no_weight_decay", "decay_exclude"}),
      key("train.momentum", &train.momentum, fraction(), "sgd only."),
      key("train.beta1", &train.beta1, fraction(), "adam and adamw: decay of the mean gradient.",
          {"betas", "beta_1"}),
      key("train.beta2", &train.beta2, fraction(), "adam and adamw: decay of its square.",
          {"beta_2"}),
      key("train.eps", &train.eps, above(0), "adam and adamw: added to the root of the square.",
          {"epsilon"}),
  };
}

std::vector<Key> schedule_keys(TrainRecipe& train) {
  return {
      key("train.schedule", &train.schedule,
          OneOf{{"constant", "step", "cosine", "one_cycle", "plateau"}, {}},
          "How the learning rate goes after the warm-up.", {"scheduler", "lr_schedule"}),
      key("train.warmup", &train.warmup, at_least(0),
          "The learning rate rises linearly from 0 for this long.",
          {"warmup_steps", "warmup_epochs", "warm_up"}),
      key("train.min_lr", &train.min_lr, at_least(0), "cosine and plateau: the lowest rate.",
          {"eta_min", "final_lr"}),
      key("train.one_cycle_rise", &train.one_cycle_rise,
          Range{.low = 0, .high = 1, .low_included = false, .high_included = false},
          "one_cycle: the part of the training in which the rate rises.", {"pct_start"}),
      key("train.step_every", &train.step_every, above(0), "step: how often the rate falls.",
          {"step_size"}),
      key("train.step_factor", &train.step_factor,
          Range{.low = 0, .high = 1, .low_included = false},
          "step: what the rate is multiplied by.", {"gamma"}),
      key("train.plateau_patience", &train.plateau_patience, at_least(1),
          "plateau: validations without a better one until the rate falls."),
      key("train.plateau_factor", &train.plateau_factor,
          Range{.low = 0, .high = 1, .low_included = false, .high_included = false},
          "plateau: what the rate is multiplied by.", {"factor"}),
  };
}

std::vector<Key> dist_keys(DistRecipe& dist) {
  return {
      key("dist.strategy", &dist.strategy, OneOf{{"ddp"}, {"zero1", "zero2", "zero3", "hybrid"}},
          "How processes share a training; one process only in this version.", {"parallel"}),
      key("dist.deterministic", &dist.deterministic, Anything{},
          "Add up in one fixed order on all processes; one process, all this version has, always "
          "does."),
  };
}

std::vector<Key> run_keys(RunRecipe& run) {
  return {
      key("run.device", &run.device, Anything{},
          "auto (a GPU where one can be used), cpu, cuda or cuda:N.", {"accelerator", "gpu"}),
      key("run.threads", &run.threads, between(0, 4096), "CPU threads; 0 = one a core.",
          {"num_threads", "cores"}),
      key("run.validate_every", &run.validate_every, above(0), "How often to validate.",
          {"eval_every", "val_check_interval", "eval_interval"}),
      key("run.checkpoint_every", &run.checkpoint_every, above(0),
          "How often to write a checkpoint.", {"save_every", "checkpoint_interval", "save_steps"}),
      key("run.keep_checkpoints", &run.keep_checkpoints, between(1, 1e6),
          "The newest ones that stay on the disk.", {"save_top_k", "max_checkpoints"}),
      key("run.attention", &run.attention, OneOf{{"own", "cudnn"}, {}},
          "Whose attention a GPU trains with in bf16: cuDNN's is for comparison, goes forward only "
          "and drops no weights."),
  };
}

std::string describe(const Range& range) {
  const bool has_low = range.low > -std::numeric_limits<double>::infinity();
  const bool has_high = range.high < std::numeric_limits<double>::infinity();
  const std::string low =
      fmt::format("{} {}", range.low_included ? "at least" : "above", range.low);
  const std::string high =
      fmt::format("{} {}", range.high_included ? "at most" : "below", range.high);
  if (has_low && has_high && range.low_included && range.high_included) {
    return fmt::format("{} to {}", range.low, range.high);
  }
  if (has_low && has_high) return low + " and " + high;
  return has_low ? low : high;
}

std::string describe_type(const Field& field) {
  constexpr std::string_view kTypes[] = {"true or false",     "an integer",
                                         "a number",          "a string",
                                         "a list of strings", "\"N steps\" or \"N epochs\""};
  return std::string(kTypes[field.index()]);
}

}  // namespace

bool Range::contains(double value) const {
  return (low_included ? value >= low : value > low) &&
         (high_included ? value <= high : value < high);
}

std::vector<Key> recipe_keys(Recipe& recipe) {
  std::vector<Key> keys;
  for (auto&& part :
       {data_keys(recipe.data), model_keys(recipe.model), transformer_keys(recipe.model),
        training_keys(recipe.train), optimizer_keys(recipe.train), schedule_keys(recipe.train),
        dist_keys(recipe.dist), run_keys(recipe.run)}) {
    keys.insert(keys.end(), part.begin(), part.end());
  }
  return keys;
}

std::string describe_allowed(const Key& key) {
  if (const auto* words = std::get_if<OneOf>(&key.allowed)) {
    return words->words.size() == 1 ? fmt::format("only {}", words->words.front())
                                    : fmt::format("one of {}", fmt::join(words->words, ", "));
  }
  const std::string type = describe_type(key.field);
  const auto* range = std::get_if<Range>(&key.allowed);
  return range ? type + ", " + describe(*range) : type;
}

}  // namespace moiety::apps
