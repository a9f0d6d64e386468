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

/// Splits: rows in [0, molecules), none in two splits or twice in one.
std::optional<std::string> with_splits(std::span<const std::int64_t> train,
                                       std::span<const std::int64_t> valid,
                                       std::span<const std::int64_t> test, std::int64_t molecules);

/// Names, classes and tasks that a file can hold.
std::optional<std::string> with_schema(const FeatureSchema& features,
                                       std::span<const TargetSpec> targets);

/// A molecule on its way into a data set.
std::optional<std::string> with_molecule(const MoleculeRecord& molecule,
                                         const FeatureSchema& features, std::int64_t targets,
                                         bool positions);

}  // namespace moiety::data::problem
