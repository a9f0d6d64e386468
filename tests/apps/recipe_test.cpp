// SPDX-License-Identifier: Apache-2.0
#include "apps/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "apps/recipe_keys.h"
#include "apps/recipe_values.h"
#include "support/error_text.h"
#include "support/temporary_folder.h"
#include "tensor/error.h"

namespace moiety::apps {
namespace {

using moiety::testing::error_text;
using moiety::testing::says;
using moiety::testing::TemporaryFolder;

constexpr const char* kData = "[data]\npath = \"gap.h5\"\n";

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return error_text<UserError>([&] { parse_recipe(text, "r.toml", overrides); });
}

TEST(Recipe, ReadsEverySection) {
  const Recipe recipe = parse_recipe(
      "[data]\npath = \"gap.h5\"\nbatch_size = 32\n[model]\ntype = \"gine\"\ndropout = 0.1\n"
      "[train]\nlr = 2e-3\nwarmup = \"2 epochs\"\n[dist]\nstrategy = \"ddp\"\n"
      "[run]\nthreads = 2\ncheckpoint_every = \"500 steps\"\n",
      "r.toml");
  EXPECT_EQ(recipe.data.path, "gap.h5");
  EXPECT_EQ(recipe.data.batch_size, 32);
  EXPECT_EQ(recipe.model.type, "gine");
  EXPECT_EQ(recipe.model.dropout, 0.1);
  EXPECT_EQ(recipe.train.lr, 2e-3);
  EXPECT_EQ(recipe.train.warmup, (Span{2, Span::Unit::epochs}));
  EXPECT_EQ(recipe.run.threads, 2);
  EXPECT_EQ(recipe.run.checkpoint_every, (Span{500, Span::Unit::steps}));
}

TEST(Recipe, ReadsAFileAndNamesOneThatIsMissing) {
  const TemporaryFolder folder;
  moiety::testing::write_bytes(folder / "r.toml", kData);
  EXPECT_EQ(read_recipe(folder / "r.toml").data.path, "gap.h5");
  const auto missing = folder / "none.toml";
  EXPECT_TRUE(says(error_text<UserError>([&] { read_recipe(missing); }), {missing.string()}));
}

TEST(Recipe, IntegersAreNumbers) {
  EXPECT_EQ(parse_recipe(std::string(kData) + "[train]\nlr = 1", "r.toml").train.lr, 1.0);
}

TEST(Recipe, TargetsAreAListOrOneString) {
  const std::vector<std::string> both = {"gap", "dipole"};
  EXPECT_EQ(parse_recipe("[data]\npath='x'\ntarget='gap,dipole'", "r").data.target, both);
  EXPECT_EQ(parse_recipe("[data]\npath='x'\ntarget=['gap','dipole']", "r").data.target, both);
  EXPECT_TRUE(parse_recipe("[data]\npath='x'\ntarget=[]", "r").data.target.empty());
  EXPECT_TRUE(
      says(error_of("[data]\npath='x'\ntarget='gap,mu,gap'"), {"data.target", "'gap' twice"}));
}

struct Mistake {
  std::string text;
  std::vector<std::string> parts;
};

class RecipeMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(RecipeMistake, IsNamed) {
  const std::string message = error_of(kData + GetParam().text);
  for (const std::string& part : GetParam().parts) EXPECT_TRUE(says(message, {part}));
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RecipeMistake,
    ::testing::Values(
        Mistake{"[train]\nepoch = 1", {"r.toml:4", "'train.epoch'", "'train.epochs'"}},
        Mistake{"[train]\n\nlearning_rate = 1", {"r.toml:5", "'train.lr'"}},
        Mistake{"[train]\nbatch_size = 1", {"r.toml:4", "'data.batch_size'"}},
        Mistake{"[train]\nhidden_channels = 1", {"r.toml:4", "'model.hidden'"}},
        Mistake{"[model]\nqqqqqqqq = 1", {"r.toml:4", "[model] has type, hidden"}},
        Mistake{"[trian]\nlr = 1", {"r.toml:3", "[trian]", "'train'"}},
        Mistake{"[qqqqqqqq]\nlr = 1", {"r.toml:3", "data, model, train, dist, run"}}));

INSTANTIATE_TEST_SUITE_P(
    Types, RecipeMistake,
    ::testing::Values(Mistake{"[train]\nepochs = \"many\"",
                              {"r.toml:4", "train.epochs", "an integer"}},
                      Mistake{"[train]\nepochs = 1.5", {"train.epochs", "1.5", "an integer"}},
                      Mistake{"[train]\nlr = \"fast\"", {"train.lr", "\"fast\"", "a number"}},
                      Mistake{"[train]\nlr = true", {"train.lr", "true", "a number"}},
                      Mistake{"[train]\nlr = nan", {"train.lr", "nan"}},
                      Mistake{"[model]\nresidual = 1", {"model.residual", "true or false"}},
                      Mistake{"[model]\ntype = [\"gcn\"]", {"model.type", "one of gcn, gin, gine"}},
                      Mistake{"[model.type]\nname = \"gcn\"", {"model.type"}},
                      Mistake{"[train]\nwarmup = 5", {"train.warmup", "N steps", "N epochs"}},
                      Mistake{"[train]\nwarmup = \"5 hours\"", {"train.warmup", "5 hours"}},
                      Mistake{"[train]\nwarmup = \"1.5 steps\"", {"train.warmup"}}));

INSTANTIATE_TEST_SUITE_P(
    Values, RecipeMistake,
    ::testing::Values(
        Mistake{"[train]\nepochs = 0", {"r.toml:4", "train.epochs = 0", "1 to"}},
        Mistake{"[train]\nlr = 0", {"train.lr", "above 0"}},
        Mistake{"[model]\nattention = true\nresidual = false", {"model.attention", "residual"}},
        Mistake{"[train]\nlr = -0.1", {"train.lr", "above 0"}},
        Mistake{"[model]\ndropout = 1", {"model.dropout", "at least 0 and below 1"}},
        Mistake{"[run]\ncheckpoint_every = \"0 steps\"", {"run.checkpoint_every", "above 0"}},
        Mistake{"[train]\noptimizer = \"adamm\"", {"sgd, adam, adamw", "'adam'"}},
        Mistake{"[train]\nprecision = \"f64\"", {"not in this version", "f32, tf32, bf16, f16"}},
        Mistake{"[train]\nloss_scale = 1000", {"train.loss_scale = 1000", "power of two"}},
        Mistake{"[dist]\nstrategy = \"zero3\"", {"not in this version", "only ddp"}},
        Mistake{"[train]\nlr = 1e-3\nmin_lr = 1e-2", {"train.min_lr", "train.lr"}}));

INSTANTIATE_TEST_SUITE_P(
    OtherModels, RecipeMistake,
    ::testing::Values(
        Mistake{"[model]\ninner = 4", {"model.inner", "encoders and decoders", "\"gcn\"", "leave"}},
        Mistake{"[model]\nheads = 8", {"model.heads", "model.attention = true"}},
        Mistake{"[model]\ntype = \"encoder\"\npool = \"sum\"",
                {"model.pool", "graph networks", "\"encoder\""}},
        Mistake{"node_budget = 9\nedge_budget = 9\n[model]\ntype = \"decoder\"",
                {"data.node_budget", "graph networks"}},
        Mistake{"token_budget = 9", {"data.token_budget", "encoders and decoders"}},
        Mistake{"[model]\nnorm = \"rms\"", {"model.norm", "none, layer or batch"}},
        Mistake{"[model]\ntype = \"encoder\"\nnorm = \"batch\"", {"model.norm", "layer or rms"}},
        Mistake{"[train]\ntask = \"language\"", {"train.task", "\"encoder\"", "\"decoder\""}}));

INSTANTIATE_TEST_SUITE_P(Toml, RecipeMistake,
                         ::testing::Values(Mistake{"[train]\nlr = 1\nlr = 2", {"r.toml:5"}},
                                           Mistake{"[train\nlr = 1", {"r.toml:3"}},
                                           Mistake{"[train]\nlr = \"a", {"r.toml:4"}}));

TEST(Recipe, WantsADataSet) { EXPECT_TRUE(says(error_of(""), {"data.path", "moiety prepare"})); }

TEST(Recipe, WantsBothBudgets) {
  EXPECT_TRUE(says(error_of("[data]\npath = \"x\"\nnode_budget = 100"),
                   {"data.node_budget", "data.edge_budget"}));
}

TEST(Recipe, KeyOutsideASectionIsNamed) {
  EXPECT_TRUE(says(error_of("lr = 1\n[data]\npath = \"x\""), {"r.toml:1", "'lr'", "'train.lr'"}));
}

TEST(RecipeOverride, WinsOverTheFile) {
  const Recipe recipe =
      parse_recipe("[data]\npath = \"a\"\n[train]\nlr = 1", "r.toml",
                   {"train.lr=3e-3", "data.path=b.h5", "model.type=gin", "model.residual=false",
                    "train.warmup=10 steps", "data.target=[\"gap\"]", "run.device=\"cpu\""});
  EXPECT_EQ(recipe.train.lr, 3e-3);
  EXPECT_EQ(recipe.data.path, "b.h5");
  EXPECT_EQ(recipe.model.type, "gin");
  EXPECT_FALSE(recipe.model.residual);
  EXPECT_EQ(recipe.train.warmup.count, 10);
  EXPECT_EQ(recipe.data.target, std::vector<std::string>{"gap"});
  EXPECT_EQ(recipe.run.device, "cpu");
}

TEST(RecipeOverride, MistakesAreNamed) {
  EXPECT_TRUE(says(error_of(kData, {"train.lrr=1"}), {"--set train.lrr=1", "'train.lr'"}));
  EXPECT_TRUE(says(error_of(kData, {"lr=1"}), {"--set lr=1", "'train.lr'"}));
  EXPECT_TRUE(says(error_of(kData, {"train.lr"}), {"--set section.key=value"}));
  EXPECT_TRUE(says(error_of(kData, {"train.lr=fast"}), {"--set train.lr=fast", "a number"}));
  EXPECT_TRUE(says(error_of(kData, {"train.epochs=0"}), {"train.epochs", "1 to"}));
}

TEST(RecipeToml, DefaultsComeBackEqual) {
  for (const char* type : {"gcn", "encoder", "decoder"}) {
    Recipe recipe = default_recipe(type);
    recipe.data.path = "gap.h5";
    EXPECT_EQ(parse_recipe(to_toml(recipe), "r.toml"), recipe);
  }
}

TEST(Recipe, DefaultsAreThoseOfTheModel) {
  const auto encoder = parse_recipe("[data]\npath='x'\n[model]\ntype='encoder'\nlayers=2", "r");
  EXPECT_EQ(encoder.model.hidden, 384);
  EXPECT_EQ(encoder.model.layers, 2);
  EXPECT_EQ(encoder.model.activation, "gelu");
  EXPECT_EQ(encoder.train.no_decay, std::vector<std::string>{"embedding"});
  const auto decoder = parse_recipe(kData, "r", {"model.type=decoder", "model.dropout=0"});
  EXPECT_EQ(decoder.model.activation, "gelu_tanh");
  EXPECT_EQ(decoder.model.dropout, 0);
}

TEST(RecipeToml, OddValuesComeBackEqual) {
  Recipe recipe;
  recipe.data.path = "a \"quoted\" \\ path\twith\nlines \xC3\xA9.h5";
  recipe.data.target = {"a,b", "c 'd'", ""};
  recipe.train.lr = 0.1 + 0.2;
  recipe.train.eps = 1e-300;
  recipe.train.seed = (std::int64_t{1} << 62) + 1;
  recipe.train.warmup = {0.5, Span::Unit::epochs};
  recipe.run.validate_every = {123456789, Span::Unit::steps};
  EXPECT_EQ(parse_recipe(to_toml(recipe), "r.toml"), recipe);
}

TEST(RecipeToml, SaysWhatIsNotTheDefault) {
  Recipe recipe;
  recipe.train.epochs = 7;
  EXPECT_TRUE(says(to_toml(recipe), {"default 60", "epochs = 7"}));
}

TEST(RecipeToml, SaysWhatThisVersionDoesNotDo) {
  EXPECT_TRUE(says(to_toml(Recipe{}), {"one process only in this version", "only ddp"}));
}

TEST(RecipeKeys, ChangesAreFoundInOrder) {
  Recipe after;
  after.train.lr = 0.5;
  after.model.type = "gin";
  const auto changes = changed_keys(Recipe{}, after);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].name, "model.type");
  EXPECT_EQ(changes[0].before + changes[0].after, "\"gcn\"\"gin\"");
  EXPECT_EQ(changes[1].name, "train.lr");
  EXPECT_EQ(changes[1].after, "0.5");
}

TEST(RecipeKeys, DefaultsAreAllowedAndNamesUnique) {
  Recipe recipe;
  std::set<std::string_view> names;
  for (const Key& key : recipe_keys(recipe)) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
    if (const auto* words = std::get_if<OneOf>(&key.allowed)) {
      const std::string& value = *std::get<std::string*>(key.field);
      EXPECT_EQ(std::ranges::count(words->words, value), 1) << key.name;
    }
  }
}

TEST(Span, CountsSteps) {
  EXPECT_EQ((Span{2, Span::Unit::epochs}).steps(100), 200);
  EXPECT_EQ((Span{0.5, Span::Unit::epochs}).steps(5), 3);
  EXPECT_EQ((Span{0.001, Span::Unit::epochs}).steps(100), 1);
  EXPECT_EQ((Span{7, Span::Unit::steps}).steps(100), 7);
  EXPECT_EQ((Span{0, Span::Unit::epochs}).steps(100), 0);
}

TEST(Span, ReadsWhatItWrites) {
  for (const char* text : {"1 epoch", "2.5 epochs", "1 step", "500 steps", "0 steps"}) {
    const auto span = parse_span(text);
    ASSERT_TRUE(span.has_value()) << text;
    EXPECT_EQ(to_string(*span), text);
  }
  for (const char* text : {"", "epoch", "1", "1epoch", "1 epoch ", "inf steps", "nan epochs"}) {
    EXPECT_FALSE(parse_span(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace moiety::apps
