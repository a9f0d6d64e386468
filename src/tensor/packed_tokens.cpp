// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "tensor/block_layout.h"
#include "tensor/packed_batch.h"

namespace moiety {
namespace {

/// What decides where the tensors of a batch lie.
struct Layout {
  TokenBatchSize size;
  bool has_scored;
  bool has_labels;
  std::int64_t targets;  // -1: there is no y
  std::int64_t extra_bytes;
};

PackedBatch cut(const Layout& layout, BlockCutter& cutter) {
  const auto& [tokens, sequences, scored, longest] = layout.size;
  const auto indices = [&](std::int64_t count) { return cutter.take({count}, DType::i32); };
  PackedBatch out;
  out.extents = {tokens, sequences, scored, longest};
  out.tokens.tokens = indices(tokens);
  out.tokens.positions = indices(tokens);
  out.tokens.ptr = indices(sequences + 1);
  out.tokens.checked = true;
  if (layout.has_scored) {
    out.tokens.scored = {indices(scored), indices(tokens + 1), indices(scored)};
    out.tokens.scored_ptr = indices(sequences + 1);
    out.tokens.scored_positions = indices(scored);
  }
  if (layout.has_labels) out.tokens.labels = indices(scored);
  if (layout.targets >= 0) out.tokens.y = cutter.take({sequences, layout.targets}, DType::f32);
  out.tokens.longest = longest;
  out.rows = indices(1);
  out.extra = cutter.take({layout.extra_bytes}, DType::u8);
  return out;
}

std::int64_t scored_rows(const TokenBatch& batch) {
  return batch.scored.defined() ? batch.scored.rows() : batch.token_count();
}

/// Sequences of the tokens behind the first T, each of them counted from 0.
void pad_sequences(const TokenBatch& batch, const TokenBatch& out) {
  copy_and_fill<std::int32_t>(batch.tokens, out.tokens, 0);
  copy_and_fill<std::int32_t>(batch.positions, out.positions, 0);
  copy_and_fill<std::int32_t>(batch.ptr, out.ptr, 0);
  const std::int64_t sequences = batch.sequences();
  auto* const ptr = out.ptr.data<std::int32_t>();
  auto* const positions = out.positions.data<std::int32_t>();
  share_evenly(ptr + sequences, out.sequences() - sequences, batch.token_count(),
               out.token_count());
  for (std::int64_t b = sequences; b < out.sequences(); ++b) {
    std::iota(positions + ptr[b], positions + ptr[b + 1], 0);
  }
}

/// Rows behind the first S that read the tokens behind the first T, as evenly as it goes.
void pad_scored(const TokenBatch& batch, const TokenBatch& out) {
  copy_and_fill<std::int32_t>(batch.scored.index, out.scored.index, 0);
  copy_and_fill<std::int32_t>(batch.scored.ptr, out.scored.ptr, 0);
  copy_and_fill<std::int32_t>(batch.scored.order, out.scored.order, 0);
  copy_and_fill<std::int32_t>(batch.scored_ptr, out.scored_ptr, 0);
  copy_and_fill<std::int32_t>(batch.scored_positions, out.scored_positions, 0);
  const std::int64_t tokens = batch.token_count();
  const std::int64_t spare = out.token_count() - tokens;
  auto* const ptr = out.scored.ptr.data<std::int32_t>();
  share_evenly(ptr + tokens, spare, batch.scored.rows(), out.scored.rows());
  for (std::int64_t t = tokens; t < tokens + spare; ++t) {
    for (std::int32_t row = ptr[t]; row < ptr[t + 1]; ++row) {
      out.scored.index.data<std::int32_t>()[row] = static_cast<std::int32_t>(t);
      out.scored.order.data<std::int32_t>()[row] = row;
      out.scored_positions.data<std::int32_t>()[row] = out.positions.data<std::int32_t>()[t];
    }
  }
  for (std::int64_t b = batch.sequences(); b < out.sequences(); ++b) {
    const auto next = static_cast<std::size_t>(b) + 1;
    out.scored_ptr.data<std::int32_t>()[next] = ptr[out.ptr.data<std::int32_t>()[next]];
  }
}

}  // namespace

TokenBatchSize padded_size(const TokenBatch& batch, std::int64_t max_length) {
  constexpr std::uint64_t kShortest = 64;
  const auto longest = static_cast<std::uint64_t>(batch.longest);
  const auto power = static_cast<std::int64_t>(std::bit_ceil(std::max(longest, kShortest)));
  const std::int64_t tokens = batch.token_count();
  const std::int64_t sequences = batch.sequences();
  TokenBatchSize size{padded_extent(tokens + 1), padded_extent(sequences + 1), 0,
                      std::min(power, std::max(max_length, batch.longest))};
  // Every spare sequence has a token at least, and `longest` at most.
  for (;;) {
    const std::int64_t spare = size.tokens - tokens;
    const std::int64_t spare_sequences = size.sequences - sequences;
    if (spare < spare_sequences) {
      size.tokens = padded_extent(size.tokens + 1);
    } else if (spare > spare_sequences * size.longest) {
      size.sequences = padded_extent(size.sequences + 1);
    } else {
      break;
    }
  }
  const std::int64_t scored = scored_rows(batch);
  size.scored = !batch.scored.defined() ? size.tokens
                : scored == sequences   ? size.sequences
                                        : padded_extent(scored);
  return size;
}

PackedBatch pack(const TokenBatch& batch, const TokenBatchSize& size, std::int64_t extra_bytes,
                 Device& device) {
  check(!device.is_cuda() && !batch.tokens.device().is_cuda(), "pack works on the host");
  const std::int64_t spare = size.tokens - batch.token_count();
  const std::int64_t spare_sequences = size.sequences - batch.sequences();
  const std::int64_t scored = scored_rows(batch);
  const bool has_scored = batch.scored.defined();
  check<ShapeError>(size.tokens < std::numeric_limits<std::int32_t>::max() &&
                        spare_sequences >= 0 && spare >= spare_sequences &&
                        spare <= spare_sequences * size.longest && batch.longest <= size.longest &&
                        (has_scored ? size.scored == scored || (size.scored > scored && spare > 0)
                                    : size.scored == size.tokens),
                    "a batch of ", batch.token_count(), " tokens in ", batch.sequences(),
                    " sequences of up to ", batch.longest, " with ", scored,
                    " scored rows does not fit ", size.tokens, " in ", size.sequences, " of up to ",
                    size.longest, " with ", size.scored);
  const Layout layout{size, has_scored, batch.labels.defined(),
                      batch.y.defined() ? batch.y.size(1) : -1, extra_bytes};
  PackedBatch out = lay_out([&layout](BlockCutter& cutter) { return cut(layout, cutter); }, device);
  pad_sequences(batch, out.tokens);
  if (has_scored) pad_scored(batch, out.tokens);
  if (batch.labels.defined()) copy_and_fill<std::int32_t>(batch.labels, out.tokens.labels, -1);
  if (batch.y.defined()) {
    copy_and_fill<float>(batch.y, out.tokens.y, std::numeric_limits<float>::quiet_NaN());
  }
  *out.rows.data<std::int32_t>() = static_cast<std::int32_t>(batch.token_count());
  return out;
}

}  // namespace moiety
