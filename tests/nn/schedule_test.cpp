// SPDX-License-Identifier: Apache-2.0
#include "nn/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "support/error_text.h"

namespace moiety::nn {
namespace {

using testing::error_text;
using testing::says;

constexpr double kPi = std::numbers::pi;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_rates(const Schedule& schedule, const std::vector<double>& expected) {
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(schedule.lr(static_cast<std::int64_t>(step)), expected[step],
                1e-12 * schedule.config().lr)
        << "step " << step;
  }
}

TEST(Schedule, ConstantStaysAtItsRate) {
  const Schedule schedule({.kind = ScheduleKind::constant, .lr = 0.5});
  expect_rates(schedule, {0.5, 0.5, 0.5});
  EXPECT_EQ(schedule.lr(1'000'000'000'000), 0.5);
}

TEST(Schedule, WarmUpRisesLinearlyToTheRate) {
  const std::vector<double> expected = {0.2, 0.4, 0.6, 0.8, 1.0, 1.0};
  expect_rates(Schedule({.lr = 1, .warmup_steps = 4}), expected);
  expect_rates(Schedule({.kind = ScheduleKind::plateau, .lr = 1, .warmup_steps = 4}), expected);
}

TEST(Schedule, StepFallsAfterTheWarmUp) {
  expect_rates(Schedule({.kind = ScheduleKind::step,
                         .lr = 8,
                         .warmup_steps = 1,
                         .step_every = 3,
                         .step_factor = 0.5}),
               {4, 8, 8, 8, 4, 4, 4, 2, 2, 2, 1});
}

TEST(Schedule, CosineFallsToTheLowestRate) {
  const Schedule schedule(
      {.kind = ScheduleKind::cosine, .lr = 1, .warmup_steps = 2, .total_steps = 10, .min_lr = 0.1});
  std::vector<double> expected = {1.0 / 3, 2.0 / 3};
  for (int t = 0; t <= 8; ++t) expected.push_back(0.1 + 0.45 * (1 + std::cos(kPi * t / 8)));
  expected.insert(expected.end(), {0.1, 0.1});  // past the end
  expect_rates(schedule, expected);
}

// The numbers of PyTorch's own test of OneCycleLR (max_lr 25, final_div_factor 2, 10 steps).
TEST(Schedule, OneCycleEqualsPyTorch) {
  const auto cosine = [](double start, double end, double part) {
    return end + (start - end) / 2 * (std::cos(kPi * part) + 1);
  };
  const Schedule schedule(
      {.kind = ScheduleKind::one_cycle, .lr = 25, .total_steps = 10, .final_div_factor = 2});
  expect_rates(schedule, {1, 13, 25, cosine(25, 0.5, 1 / 7.0), cosine(25, 0.5, 2 / 7.0),
                          cosine(25, 0.5, 3 / 7.0), cosine(25, 0.5, 4 / 7.0),
                          cosine(25, 0.5, 5 / 7.0), cosine(25, 0.5, 6 / 7.0), 0.5, 0.5});
}

TEST(Schedule, OneCycleBeginsAndEndsLow) {
  const Schedule schedule({.kind = ScheduleKind::one_cycle, .lr = 2e-3, .total_steps = 1000});
  EXPECT_DOUBLE_EQ(schedule.lr(0), 2e-3 / 25);
  EXPECT_DOUBLE_EQ(schedule.lr(299), 2e-3);
  EXPECT_NEAR(schedule.lr(999), 2e-3 / 25 / 1e4, 1e-18);
  EXPECT_LT(schedule.lr(298), schedule.lr(299));
  EXPECT_GT(schedule.lr(299), schedule.lr(300));
}

TEST(Schedule, WarmUpIsTheRiseOfOneCycle) {
  ScheduleConfig by_part{.kind = ScheduleKind::one_cycle, .lr = 1, .total_steps = 50, .rise = 0.2};
  ScheduleConfig by_steps{
      .kind = ScheduleKind::one_cycle, .lr = 1, .warmup_steps = 10, .total_steps = 50};
  for (std::int64_t step = 0; step < 50; ++step) {
    EXPECT_DOUBLE_EQ(Schedule(by_part).lr(step), Schedule(by_steps).lr(step)) << step;
  }
}

TEST(Schedule, ShortOneCyclesAreFinite) {
  for (std::int64_t total = 1; total <= 12; ++total) {
    for (std::int64_t warmup = 0; warmup < total; ++warmup) {
      const Schedule schedule(
          {.kind = ScheduleKind::one_cycle, .lr = 1, .warmup_steps = warmup, .total_steps = total});
      for (std::int64_t step = 0; step < total + 2; ++step) {
        const double lr = schedule.lr(step);
        EXPECT_TRUE(lr > 0 && lr <= 1) << total << " " << warmup << " " << step << ": " << lr;
      }
    }
  }
}

TEST(Schedule, PlateauFallsAfterPatience) {
  Schedule schedule({.kind = ScheduleKind::plateau,
                     .lr = 1,
                     .min_lr = 0.3,
                     .plateau_patience = 2,
                     .plateau_factor = 0.5,
                     .plateau_threshold = 0.01});
  const std::vector<std::pair<double, double>> observed_then_rate = {
      {10, 1},  {9, 1},      {8.95, 1},    // better, but by less than 1 %
      {9, 0.5},                            // the second in a row
      {8, 0.5}, {kNan, 0.5}, {kNan, 0.3},  // NaN is no improvement; 0.25 is too low
      {9, 0.3}, {9, 0.3},    {-5, 0.3},   {-5.04, 0.3}};
  for (const auto& [validation, rate] : observed_then_rate) {
    schedule.observe(validation);
    EXPECT_DOUBLE_EQ(schedule.lr(100), rate) << "after " << validation;
  }
}

TEST(Schedule, OthersIgnoreValidations) {
  Schedule schedule({.kind = ScheduleKind::constant, .lr = 1, .plateau_patience = 1});
  for (int i = 0; i < 5; ++i) schedule.observe(1);
  EXPECT_EQ(schedule.lr(0), 1);
}

TEST(Schedule, PlateauGoesOnFromACheckpoint) {
  const ScheduleConfig config{
      .kind = ScheduleKind::plateau, .lr = 0.1, .plateau_patience = 2, .plateau_factor = 0.7};
  const std::vector<double> validations = {3, 3, 3, 3, 2, 2.5, 2.5, 2.5, 1, 1, 1};
  for (std::size_t cut = 0; cut <= validations.size(); ++cut) {
    Schedule whole(config);
    Schedule first(config);
    for (std::size_t i = 0; i < cut; ++i) first.observe(validations[i]);
    Checkpoint checkpoint;
    first.save(checkpoint);
    Schedule second(config);
    second.restore(checkpoint);
    for (std::size_t i = cut; i < validations.size(); ++i) second.observe(validations[i]);
    for (const double v : validations) whole.observe(v);
    EXPECT_EQ(second.lr(7), whole.lr(7)) << cut;
  }
}

TEST(Schedule, RestoreNamesAnotherKind) {
  Checkpoint checkpoint;
  Schedule({.kind = ScheduleKind::constant}).save(checkpoint);
  Schedule plateau({.kind = ScheduleKind::plateau});
  EXPECT_TRUE(says(error_text<IoError>([&] { plateau.restore(checkpoint); }),
                   {"written with a constant schedule", "plateau"}));
}

TEST(Schedule, NamesTheSettingThatIsOutOfRange) {
  const auto text = [](const ScheduleConfig& config) {
    return error_text<UserError>([&] { Schedule{config}; });
  };
  using enum ScheduleKind;
  EXPECT_TRUE(says(text({.lr = 0}), {"lr must be above 0"}));
  EXPECT_TRUE(says(text({.lr = kNan}), {"lr must be above 0"}));
  EXPECT_TRUE(says(text({.warmup_steps = -1}), {"warmup_steps"}));
  EXPECT_TRUE(says(text({.kind = step, .step_every = 0}), {"step_every"}));
  EXPECT_TRUE(says(text({.kind = step, .step_factor = 1.5}), {"step_factor"}));
  EXPECT_TRUE(says(text({.kind = cosine}), {"cosine needs total_steps"}));
  EXPECT_TRUE(says(text({.kind = cosine, .warmup_steps = 9, .total_steps = 9}), {"warm-up of 9"}));
  EXPECT_TRUE(says(text({.kind = cosine, .lr = 1, .total_steps = 9, .min_lr = 2}), {"min_lr"}));
  EXPECT_TRUE(says(text({.kind = one_cycle, .total_steps = 9, .rise = 1}), {"rise"}));
  EXPECT_TRUE(says(text({.kind = one_cycle, .total_steps = 9, .div_factor = 0}), {"div_factor"}));
  EXPECT_TRUE(says(text({.kind = plateau, .plateau_patience = 0}), {"plateau_patience"}));
  EXPECT_TRUE(says(text({.kind = plateau, .plateau_factor = kNan}), {"plateau_factor"}));
  EXPECT_TRUE(says(text({.kind = plateau, .plateau_threshold = 1}), {"plateau_threshold"}));
}

TEST(Schedule, KindsHaveNames) {
  for (const char* name : {"constant", "step", "cosine", "one_cycle", "plateau"}) {
    EXPECT_EQ(name_of(schedule_kind(name)), name);
  }
  EXPECT_TRUE(says(error_text<UserError>([] { schedule_kind("linear"); }),
                   {"no schedule \"linear\"", "one_cycle"}));
}

}  // namespace
}  // namespace moiety::nn
