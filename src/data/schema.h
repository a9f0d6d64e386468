// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "tensor/dtype.h"

/// Names in a data set's HDF5 file. Flat arrays over all molecules, cut by pointer arrays. There
/// are graphs (/graph, /node, /edge), tokens (/token), or both.
namespace moiety::data::schema {

inline constexpr const char* kName = "moiety-graphs";
/// A file of graphs alone is of version 1, one with tokens of version 2.
inline constexpr std::int64_t kVersion = 1;
inline constexpr std::int64_t kVersionWithTokens = 2;

inline constexpr const char* kNodePtr = "/graph/node_ptr";  // [M+1] i64
inline constexpr const char* kEdgePtr = "/graph/edge_ptr";  // [M+1] i64
inline constexpr const char* kNodeX = "/node/x";            // [N, Fx] u8 or i32
inline constexpr const char* kNodeZ = "/node/z";            // [N] u8
inline constexpr const char* kNodePos = "/node/pos";        // [N, 3] f32, optional
inline constexpr const char* kEdgeSrc = "/edge/src";        // [E] i32
inline constexpr const char* kEdgeDst = "/edge/dst";        // [E] i32
inline constexpr const char* kEdgeAttr = "/edge/attr";      // [E, Fe] u8 or i32
inline constexpr const char* kToken = "/token";             // attribute tokenizer: JSON
inline constexpr const char* kTokenIds = "/token/ids";      // [S] i32
inline constexpr const char* kTokenPtr = "/token/ptr";      // [M+1] i64
inline constexpr const char* kTargetY = "/target/y";        // [M, T] f64
inline constexpr const char* kSmiles = "/meta/smiles";      // [M] text
inline constexpr const char* kIds = "/meta/id";             // [M] text
inline constexpr const char* kTrain = "/split/train";       // [.] i64
inline constexpr const char* kValid = "/split/valid";
inline constexpr const char* kTest = "/split/test";

/// How categorical columns of these numbers of classes are stored: all in one type.
inline DType feature_dtype(std::span<const std::int32_t> dims) {
  return std::ranges::all_of(dims, [](std::int32_t n) { return n <= 256; }) ? DType::u8
                                                                            : DType::i32;
}

}  // namespace moiety::data::schema
