// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/molecule_record.h"
#include "data/molecule_view.h"

/// What must hold for every data set: checked where one is written and again where one is read.
/// Each function returns what is wrong, or nothing.
namespace moiety::data::problem {

/// Offsets of M runs in an array of `total` elements: [M+1], from 0, ascending.
std::optional<std::string> with_pointers(std::span<const std::int64_t> pointers,
                                         std::int64_t total);

/// `rows` [rows, F] against the number of classes of each of the F columns.
std::optional<std::string> with_classes(const FeatureRows& values, std::int64_t rows,
                                        std::span<const std::int32_t> dims);

/// Edges of one molecule: both ends among its atoms, destinations ascending.
std::optional<std::string> with_edges(std::span<const std::int32_t> src,
                                      std::span<const std::int32_t> dst, std::int64_t atoms);

/// Token ids of molecules: at least one each, all in [0, vocabulary). `pointers` [M+1] must be
/// good.
std::optional<std::string> with_tokens(std::span<const std::int64_t> pointers,
                                       std::span<const std::int32_t> ids, std::int64_t vocabulary);

/// Values [M * T] of targets: finite or missing, 0 or 1 where the task is to classify.
std::optional<std::string> with_targets(std::span<const double> values,
                                        std::span<const TargetSpec> targets);

/// Splits: rows in [0, molecules), none in two splits or twice in one.
std::optional<std::string> with_splits(std::span<const std::int64_t> train,
                                       std::span<const std::int64_t> valid,
                                       std::span<const std::int64_t> test, std::int64_t molecules);

/// Names, classes and tasks that a file can hold. Features without atom columns: no graphs.
std::optional<std::string> with_schema(const FeatureSchema& features,
                                       std::span<const TargetSpec> targets);

/// A molecule on its way into a data set; without atom columns in `features` it has no graph.
std::optional<std::string> with_molecule(const MoleculeRecord& molecule,
                                         const FeatureSchema& features,
                                         std::span<const TargetSpec> targets, bool positions);

}  // namespace moiety::data::problem
