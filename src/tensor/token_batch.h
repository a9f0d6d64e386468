// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace moiety {

/// Some rows of T, ascending, and the same choice seen from the T rows, as ops::gather takes it.
struct RowChoice {
  Tensor index;  ///< [S] i32: the rows
  Tensor ptr;    ///< [T+1] i32: places ptr[t] .. ptr[t+1] of `order` read row t
  Tensor order;  ///< [S] i32

  bool defined() const { return index.defined(); }
  std::int64_t rows() const { return index.numel(); }
};

/// Throws ShapeError for rows that do not ascend or are not in [0, total).
RowChoice make_row_choice(std::span<const std::int32_t> rows, std::int64_t total, Device& device);

/// B token sequences one after the other, without padding: T tokens.
struct TokenBatch {
  Tensor tokens;            ///< [T] i32
  Tensor positions;         ///< [T] i32: place in its sequence, from 0
  Tensor ptr;               ///< [B+1] i32: tokens of sequence b
  RowChoice scored;         ///< the S tokens that a model's head reads; undefined: all of them
  Tensor scored_ptr;        ///< [B+1] i32: which of them are of sequence b
  Tensor scored_positions;  ///< [S] i32: their places in their sequences
  Tensor labels;            ///< [S] i32: what the head should say, negative: does not count
  Tensor y;  ///< [B, K] f32 targets of the sequences, NaN = missing; may be undefined
  std::int64_t longest = 0;  ///< tokens of the longest sequence
  /// True once the pointers are known to fit the tokens; operations check those of all others.
  bool checked = false;
  /// Where this part begins in the whole batch, which random numbers depend on.
  std::int64_t first_token = 0;
  std::int64_t first_sequence = 0;
  std::int64_t first_scored = 0;

  std::int64_t token_count() const { return tokens.numel(); }
  std::int64_t sequences() const { return ptr.numel() - 1; }
  /// All of its tensors, undefined ones too.
  std::array<Tensor*, 10> tensors() {
    return {
        &tokens,           &positions, &ptr, &scored.index, &scored.ptr, &scored.order, &scored_ptr,
        &scored_positions, &labels,    &y};
  }
};

/// The sequences packed, without labels and targets. Throws ShapeError for an empty sequence or
/// more tokens than 32-bit offsets count.
TokenBatch pack_tokens(const std::vector<std::vector<std::int32_t>>& sequences, Device& device);

/// Gives the tokens these labels, one a token, and lets a head read those alone whose label is not
/// negative. The batch must be on a CPU, as in the functions below.
void score_labelled(TokenBatch& batch, std::span<const std::int32_t> labels);
/// Lets a head read the first token of each sequence.
void score_starts(TokenBatch& batch);

/// Sequences [begin, end) with their labels and targets, for a worker of its own. Their tokens are
/// shared.
TokenBatch part_of(const TokenBatch& batch, std::int64_t begin, std::int64_t end);

/// Tokens of a part that a worker takes through all layers, at most: products of more rows are no
/// faster, and each part costs a pass over the gradients of all weights.
inline constexpr std::int64_t kTokensPerPart = 768;

/// The whole batch in parts of about so many tokens or fewer, which share them out as evenly as
/// whole sequences allow: an even number of parts, as two workers would wait for the third of
/// three. What they are depends on the batch alone. Throws Error below 1.
std::vector<TokenBatch> cut_by_tokens(const TokenBatch& batch, std::int64_t tokens_per_part);

/// The batch on another device; itself when it is there already.
TokenBatch to_device(const TokenBatch& batch, Device& device);

}  // namespace moiety
