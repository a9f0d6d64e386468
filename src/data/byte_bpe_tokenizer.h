// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/bpe_merges.h"
#include "data/tokenizer.h"

namespace moiety::data {

/// Byte-level BPE as in GPT-2 and RoBERTa, whose template <s> ... </s> it has: a text is cut by
/// gpt2_pieces(), the bytes of each piece are merged. With a token for each byte, any bytes at all
/// come back as they were.
class ByteBpeTokenizer : public Tokenizer {
 public:
  /// Tokens are spelled in byte_symbol()s; the merges hold ids of the vocabulary. Merges that would
  /// make a pad, begin, end or unknown token are left out.
  ByteBpeTokenizer(TokenVocabulary vocabulary, const BpeMerges& merges);

  /// Writes vocab.json, merges.txt and tokenizer_config.json.
  void save(const std::filesystem::path& folder) const override;
  Kind kind() const override { return Kind::byte_bpe; }
  std::span<const BpeMerges::Merge> merges() const override { return merges_.list(); }

 protected:
  void encode_from(std::string_view text, std::size_t at, Encoded& out) const override;
  std::string text_of(std::int32_t id) const override;

 private:
  /// False for a token that is decoded as something else than its bytes.
  bool stands_for_bytes(std::int32_t id) const;
  void encode_piece(std::string_view text, std::size_t at, std::size_t end, Encoded& out) const;

  std::array<std::optional<std::int32_t>, 256> byte_ids_;
  BpeMerges merges_;
};

/// Reads vocab.json, merges.txt and the special tokens beside them. Throws UserError where one is
/// missing, IoError naming the file and line or key.
std::unique_ptr<ByteBpeTokenizer> load_byte_bpe_tokenizer(const std::filesystem::path& folder);

}  // namespace moiety::data
