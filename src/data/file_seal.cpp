// SPDX-License-Identifier: Apache-2.0
#include "data/file_seal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "tensor/checksum.h"
#include "tensor/error.h"

namespace moiety::data {
namespace {

constexpr std::array<char, 16> kMagic = {"moiety sealed\r\n"};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kMaxSections = 64;

struct SectionEntry {
  std::array<char, 32> name;
  std::int64_t offset;
  std::int64_t bytes;
  std::uint64_t checksum;
};

/// The seal as it stands in the file. `own_checksum` covers all bytes before it, hence the
/// checksums of all sections.
struct SealBlock {
  std::array<char, 16> magic;
  std::uint32_t version;
  std::uint32_t sections;
  std::int64_t file_bytes;
  std::array<SectionEntry, kMaxSections> entries;
  std::array<std::byte, kSealBytes - 40 - kMaxSections * sizeof(SectionEntry)> zeros;
  std::uint64_t own_checksum;
};
static_assert(sizeof(SealBlock) == kSealBytes);
static_assert(std::is_trivially_copyable_v<SealBlock>);

std::uint64_t checksum_of(const SealBlock& block) {
  return xxh64(std::as_bytes(std::span(&block, 1)).first(kSealBytes - sizeof(std::uint64_t)));
}

/// The named sections in file order with the gaps between them, from the seal to the end.
std::vector<FileSection> cover(std::vector<FileSection> named, std::int64_t file_bytes,
                               const std::string& path) {
  std::ranges::sort(named, {}, &FileSection::offset);
  std::vector<FileSection> out;
  std::int64_t at = kSealBytes;
  for (FileSection& section : named) {
    MOIETY_CHECK(section.offset >= at && section.bytes > 0, path, " ", section.name);
    if (section.offset > at) out.push_back({kBetweenSections, at, section.offset - at});
    at = section.offset + section.bytes;
    out.push_back(std::move(section));
  }
  MOIETY_CHECK(at <= file_bytes, path);
  if (at < file_bytes) out.push_back({kBetweenSections, at, file_bytes - at});
  return out;
}

SectionEntry entry_for(const FileSection& section, std::span<const std::byte> file) {
  SectionEntry entry{};
  MOIETY_CHECK(section.name.size() < entry.name.size(), section.name);
  std::ranges::copy(section.name, entry.name.begin());
  entry.offset = section.offset;
  entry.bytes = section.bytes;
  entry.checksum = xxh64(file.subspan(static_cast<std::size_t>(section.offset),
                                      static_cast<std::size_t>(section.bytes)));
  return entry;
}

SealBlock read_block(const MappedFile& file) {
  const auto bytes = file.bytes();
  SealBlock block{};
  const bool magic =
      bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  check<UserError>(magic, file.path(),
                   ": is not a moiety data set (its first bytes are wrong); make it with `moiety "
                   "prepare`");
  check<IoError>(bytes.size() >= kSealBytes, file.path(), ": is cut short: only ", bytes.size(),
                 " bytes; make or copy it again");
  std::memcpy(&block, bytes.data(), sizeof block);
  check<IoError>(block.own_checksum == checksum_of(block), file.path(), ": its seal (the first ",
                 kSealBytes, " bytes) is damaged; make or copy it again");
  check<IoError>(block.version == kVersion, file.path(), ": is sealed in format ", block.version,
                 ", this program reads ", kVersion, "; make it again with `moiety prepare`");
  return block;
}

/// Checks an entry that should begin at `at`; returns it as a section.
FileSection verify_entry(const SectionEntry& entry, std::int64_t at, const MappedFile& file) {
  const std::string name(entry.name.data(), strnlen(entry.name.data(), entry.name.size()));
  const auto size = static_cast<std::int64_t>(file.bytes().size());
  check<IoError>(entry.offset == at && entry.bytes > 0 && entry.bytes <= size - at, file.path(),
                 ": its seal contradicts itself at ", name);
  FileSection section{name, entry.offset, entry.bytes};
  check<IoError>(entry.checksum == entry_for(section, file.bytes()).checksum, file.path(), ": ",
                 name, " is damaged (its checksum is wrong); make or copy the file again");
  return section;
}

}  // namespace

void write_seal(const std::string& path, std::vector<FileSection> named) {
  SealBlock block{};
  {
    const MappedFile file(path);
    const auto size = static_cast<std::int64_t>(file.bytes().size());
    check<IoError>(size >= kSealBytes, path, ": is too short to be sealed");
    const auto sections = cover(std::move(named), size, path);
    MOIETY_CHECK(sections.size() <= kMaxSections, path);
    block.magic = kMagic;
    block.version = kVersion;
    block.sections = static_cast<std::uint32_t>(sections.size());
    block.file_bytes = size;
    std::ranges::transform(sections, block.entries.begin(), [&](const FileSection& section) {
      return entry_for(section, file.bytes());
    });
    block.own_checksum = checksum_of(block);
  }
  std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
  out.write(reinterpret_cast<const char*>(&block), sizeof block);
  out.close();
  check<IoError>(out.good(), path, ": cannot be written: ", std::strerror(errno));
}

std::vector<FileSection> verify_seal(const MappedFile& file) {
  const SealBlock block = read_block(file);
  const auto size = static_cast<std::int64_t>(file.bytes().size());
  check<IoError>(block.file_bytes == size, file.path(), ": is ", size, " bytes long instead of ",
                 block.file_bytes, "; make or copy it again");
  check<IoError>(block.sections <= kMaxSections, file.path(), ": its seal names ", block.sections,
                 " sections, more than ", kMaxSections);
  std::vector<FileSection> sections;
  std::int64_t at = kSealBytes;
  for (std::uint32_t i = 0; i < block.sections; ++i) {
    sections.push_back(verify_entry(block.entries[i], at, file));
    at += sections.back().bytes;
  }
  check<IoError>(at == size, file.path(), ": its seal covers ", at, " of ", size, " bytes");
  return sections;
}

std::uint64_t content_checksum(const MappedFile& file) { return read_block(file).own_checksum; }

}  // namespace moiety::data
