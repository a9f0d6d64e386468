// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset_info.h"
#include "data/file_seal.h"
#include "data/hdf5_reader.h"
#include "data/mapped_file.h"
#include "data/molecule_view.h"

namespace moiety::data {

/// The arrays of a data set where they are mapped: M molecules, N atoms, E edges, S tokens, T
/// targets. Those of graphs are empty where there are tokens alone.
struct DatasetColumns {
  std::span<const std::int64_t> node_ptr;               ///< [M+1]
  std::span<const std::int64_t> edge_ptr;               ///< [M+1]
  FeatureRows x;                                        ///< [N, Fx]
  std::span<const std::uint8_t> z;                      ///< [N]
  std::span<const float> pos;                           ///< [N * 3], or empty
  std::span<const std::int32_t> src;                    ///< [E]
  std::span<const std::int32_t> dst;                    ///< [E]
  FeatureRows attr;                                     ///< [E, Fe]
  std::span<const std::int64_t> token_ptr;              ///< [M+1], or empty
  std::span<const std::int32_t> token_ids;              ///< [S]
  std::span<const double> y;                            ///< [M * T]
  std::array<std::span<const std::int64_t>, 3> splits;  ///< by Split
};

/// What the attributes tell. Throws IoError naming the file and the attribute.
DatasetInfo read_attributes(const MappedFile& file, const Hdf5Reader& hdf5);

/// Finds all columns, checks that their shapes fit each other and their values the schema, and
/// fills in the sizes of `info`. Throws IoError naming the file, the data set and the problem.
DatasetColumns read_columns(const MappedFile& file, std::span<const FileSection> sections,
                            const Hdf5Reader& hdf5, DatasetInfo& info);

}  // namespace moiety::data
