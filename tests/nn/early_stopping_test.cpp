// SPDX-License-Identifier: Apache-2.0
#include "nn/early_stopping.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/error_text.h"

namespace moiety::nn {
namespace {

TEST(EarlyStopping, StopsAfterPatienceWithoutABetterOne) {
  EarlyStopping stopping(2);
  EXPECT_TRUE(stopping.observe(3));
  EXPECT_FALSE(stopping.observe(3));
  EXPECT_TRUE(stopping.observe(2));
  EXPECT_FALSE(stopping.observe(2.5));
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_FALSE(stopping.observe(std::nan("")));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.best(), 2);
  EXPECT_EQ(stopping.bad_validations(), 2);
}

TEST(EarlyStopping, AnImprovementMustExceedMinDelta) {
  EarlyStopping stopping(5, 0.5);
  EXPECT_TRUE(stopping.observe(3));
  EXPECT_FALSE(stopping.observe(2.5));
  EXPECT_TRUE(stopping.observe(2.4));
}

TEST(EarlyStopping, PatienceOfZeroNeverStops) {
  EarlyStopping stopping;
  for (int i = 0; i < 100; ++i) stopping.observe(i);
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_EQ(stopping.best(), 0);
}

TEST(EarlyStopping, GoesOnFromACheckpoint) {
  EarlyStopping first(3);
  for (const double v : {0.1, 0.3, 0.2}) first.observe(v);
  Checkpoint checkpoint;
  first.save(checkpoint);
  EarlyStopping second(3);
  second.restore(checkpoint);
  EXPECT_EQ(second.best(), 0.1);
  EXPECT_FALSE(second.should_stop());
  EXPECT_FALSE(second.observe(0.1));
  EXPECT_TRUE(second.should_stop());
}

TEST(EarlyStopping, RestoresBeforeTheFirstValidation) {
  Checkpoint checkpoint;
  EarlyStopping(1).save(checkpoint);
  EarlyStopping second(1);
  second.restore(checkpoint);
  EXPECT_TRUE(std::isinf(second.best()));
  EXPECT_TRUE(second.observe(1e300));
}

TEST(EarlyStopping, RefusesNegativeSettings) {
  EXPECT_THROW(EarlyStopping(-1), UserError);
  EXPECT_THROW(EarlyStopping(1, -0.1), UserError);
}

}  // namespace
}  // namespace moiety::nn
