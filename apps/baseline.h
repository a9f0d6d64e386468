// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/predictions.h"
#include "data/dataset.h"

namespace moiety::apps {

/// A classical model to compare with: ridge regression on how often a molecule's atoms and bonds
/// have each class of each feature, and on its size. The penalty is the one that does best on the
/// validation split. Targets are fitted one by one, without their missing values.
///
/// Returns predictions for the test split beside the truth of the given columns.
Predictions ridge_on_counts(const data::Dataset& dataset, const std::vector<std::string>& targets,
                            std::span<const std::size_t> columns);

}  // namespace moiety::apps
