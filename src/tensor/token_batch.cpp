// SPDX-License-Identifier: Apache-2.0
#include "tensor/token_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace moiety {
namespace {

using Indices = std::vector<std::int32_t>;

std::span<const std::int32_t> values_of(const Tensor& t) {
  MOIETY_CHECK(!t.device().is_cuda(), "batches of tokens are made on the host");
  return {t.data<std::int32_t>(), static_cast<std::size_t>(t.numel())};
}

Tensor tensor_of(const Indices& values, Device& device) {
  return Tensor::from(values, {std::ssize(values)}, device);
}

/// Lets a head read these tokens.
void score(TokenBatch& batch, const Indices& rows) {
  Device& device = batch.tokens.device();
  batch.scored = make_row_choice(rows, batch.token_count(), device);
  const auto places = values_of(batch.positions);
  Indices positions;
  for (const std::int32_t row : rows) positions.push_back(places[static_cast<std::size_t>(row)]);
  batch.scored_positions = tensor_of(positions, device);
  Indices ptr;
  for (const std::int32_t first : values_of(batch.ptr)) {
    const auto place = std::lower_bound(rows.begin(), rows.end(), first);
    ptr.push_back(static_cast<std::int32_t>(place - rows.begin()));
  }
  batch.scored_ptr = tensor_of(ptr, device);
}

}  // namespace

RowChoice make_row_choice(std::span<const std::int32_t> rows, std::int64_t total, Device& device) {
  Indices ptr(static_cast<std::size_t>(total) + 1, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    check<ShapeError>(rows[i] >= 0 && rows[i] < total && (i == 0 || rows[i - 1] < rows[i]),
                      "make_row_choice: entry ", i, " is row ", rows[i], " of ", total,
                      "; rows must ascend");
    ptr[static_cast<std::size_t>(rows[i]) + 1] = 1;
  }
  std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
  Indices order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  return {tensor_of(Indices(rows.begin(), rows.end()), device), tensor_of(ptr, device),
          tensor_of(order, device)};
}

TokenBatch pack_tokens(const std::vector<std::vector<std::int32_t>>& sequences, Device& device) {
  Indices tokens;
  Indices positions;
  Indices ptr = {0};
  TokenBatch out;
  for (const auto& sequence : sequences) {
    check<ShapeError>(!sequence.empty(), "pack_tokens: sequence ", ptr.size() - 1, " is empty");
    check<ShapeError>(tokens.size() + sequence.size() <= std::numeric_limits<std::int32_t>::max(),
                      "pack_tokens: more tokens than 32-bit offsets count; make smaller batches");
    tokens.insert(tokens.end(), sequence.begin(), sequence.end());
    positions.resize(tokens.size());
    std::iota(positions.end() - std::ssize(sequence), positions.end(), 0);
    ptr.push_back(static_cast<std::int32_t>(tokens.size()));
    out.longest = std::max<std::int64_t>(out.longest, std::ssize(sequence));
  }
  out.tokens = tensor_of(tokens, device);
  out.positions = tensor_of(positions, device);
  out.ptr = tensor_of(ptr, device);
  out.checked = true;
  return out;
}

void score_labelled(TokenBatch& batch, std::span<const std::int32_t> labels) {
  check<ShapeError>(std::ssize(labels) == batch.token_count(), "score_labelled: ", labels.size(),
                    " labels for ", batch.token_count(), " tokens");
  Indices rows;
  Indices scored;
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (labels[t] < 0) continue;
    rows.push_back(static_cast<std::int32_t>(t));
    scored.push_back(labels[t]);
  }
  score(batch, rows);
  batch.labels = tensor_of(scored, batch.tokens.device());
}

void score_starts(TokenBatch& batch) {
  const auto ptr = values_of(batch.ptr);
  score(batch, Indices(ptr.begin(), ptr.end() - 1));
}

TokenBatch part_of(const TokenBatch& batch, std::int64_t begin, std::int64_t end) {
  check<ShapeError>(0 <= begin && begin <= end && end <= batch.sequences(), "part_of: sequences ",
                    begin, " to ", end, " of ", batch.sequences());
  const auto ptr = values_of(batch.ptr);
  const std::int32_t first = ptr[static_cast<std::size_t>(begin)];
  const std::int32_t last = ptr[static_cast<std::size_t>(end)];
  Device& device = batch.tokens.device();
  TokenBatch out = batch;
  out.tokens = batch.tokens.slice(0, first, last);
  out.positions = batch.positions.slice(0, first, last);
  out.longest = 0;
  Indices own;
  for (std::int64_t b = begin; b <= end; ++b) {
    own.push_back(ptr[static_cast<std::size_t>(b)] - first);
    if (b > begin) out.longest = std::max<std::int64_t>(out.longest, own.back() - *(own.end() - 2));
  }
  out.ptr = tensor_of(own, device);
  if (batch.y.defined()) out.y = batch.y.slice(0, begin, end);
  std::int64_t first_label = first;
  std::int64_t last_label = last;
  if (batch.scored.defined()) {
    const auto rows = values_of(batch.scored.index);
    const auto from = std::lower_bound(rows.begin(), rows.end(), first);
    const auto to = std::lower_bound(from, rows.end(), last);
    Indices chosen(from, to);
    for (std::int32_t& row : chosen) row -= first;
    score(out, chosen);
    first_label = from - rows.begin();
    last_label = to - rows.begin();
    out.first_scored = batch.first_scored + first_label;
  }
  if (batch.labels.defined()) out.labels = batch.labels.slice(0, first_label, last_label);
  out.first_token = batch.first_token + first;
  out.first_sequence = batch.first_sequence + begin;
  return out;
}

std::vector<TokenBatch> cut_by_tokens(const TokenBatch& batch, std::int64_t tokens_per_part) {
  check(tokens_per_part > 0, "cut_by_tokens: parts of ", tokens_per_part, " tokens");
  const auto ptr = values_of(batch.ptr);
  const std::int64_t total = batch.token_count();
  if (total <= tokens_per_part) return {batch};
  const std::int64_t least = (total + tokens_per_part - 1) / tokens_per_part;
  const std::int64_t parts = least + least % 2;
  std::vector<TokenBatch> out;
  std::int64_t begin = 0;
  for (std::int64_t i = 1; i <= parts; ++i) {
    const std::int64_t wanted = total * i / parts;
    auto end = std::lower_bound(ptr.begin() + begin, ptr.end(), wanted);
    if (end != ptr.begin() + begin && *end - wanted > wanted - *(end - 1)) --end;
    const std::int64_t last = i == parts ? batch.sequences() : end - ptr.begin();
    if (last > begin) out.push_back(part_of(batch, begin, last));
    begin = std::max(begin, last);
  }
  return out;
}

TokenBatch to_device(const TokenBatch& batch, Device& device) {
  TokenBatch out = batch;
  for (Tensor* tensor : out.tensors()) {
    if (tensor->defined()) *tensor = tensor->to(device);
  }
  return out;
}

}  // namespace moiety
