// SPDX-License-Identifier: Apache-2.0
#include "nn/checkpoint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/atomic_file.h"
#include "nn/safetensors.h"
#include "nn/safetensors_file.h"
#include "tensor/checksum.h"

namespace moiety::nn {
namespace {

// How the header begins: its own checksum first, at a fixed place, so that it is checked before
// anything is parsed. It covers all that follows it.
constexpr std::string_view kSeal = R"({"__metadata__":{"moiety.checksum":")";
constexpr std::string_view kOpening = R"({"__metadata__":{)";
constexpr std::size_t kDigits = 16;

constexpr std::string_view kOurs = "moiety.";  // begins the metadata that is not state
constexpr const char* kFormatKey = "moiety.format";
constexpr const char* kFormat = "1";
constexpr const char* kTensorChecksum = "moiety.xxh64.";

std::string checksum(std::span<const std::byte> bytes) {
  std::string out(kDigits, '0');
  std::array<char, kDigits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + kDigits, xxh64(bytes), 16).ptr;
  std::copy_backward(digits.data(), end, out.data() + kDigits);
  return out;
}

std::string checksum(std::string_view text) { return checksum(std::as_bytes(std::span(text))); }

std::string seal(const std::string& header) {
  std::string rest = "\"," + header.substr(kOpening.size());
  while ((kSeal.size() + kDigits + rest.size()) % 8 != 0) rest += ' ';  // data begin aligned
  return concat(kSeal, checksum(rest), rest);
}

bool is_sealed(std::string_view header) {
  return header.starts_with(kSeal) && header.size() > kSeal.size() + kDigits;
}

void check_seal(std::string_view header, const std::string& source) {
  const std::string_view stored = header.substr(kSeal.size(), kDigits);
  check<IoError>(stored == checksum(header.substr(kSeal.size() + kDigits)), source,
                 ": the header does not have its checksum; the file is damaged");
}

bool is_ours(const std::string& name) { return name.starts_with(kOurs); }

/// The elements of a tensor in host memory: its own where they lie there in order, else a copy.
class HostBytes {
 public:
  explicit HostBytes(const Tensor& tensor) : contiguous_(tensor.contiguous_copy()) {
    if (!contiguous_.device().is_cuda()) return;
    Device& device = contiguous_.device();
    copy_.resize(contiguous_.bytes());
    device.copy_bytes(copy_.data(), contiguous_.raw_data(), copy_.size(), device.stream());
    device.synchronize(device.stream());
  }
  std::span<const std::byte> get() const {
    if (contiguous_.device().is_cuda()) return copy_;
    return {static_cast<const std::byte*>(contiguous_.raw_data()), contiguous_.bytes()};
  }

 private:
  Tensor contiguous_;
  std::vector<std::byte> copy_;
};

SafetensorsHeader describe(const Checkpoint& checkpoint) {
  SafetensorsHeader out{checkpoint.state, {}};
  for (const auto& [name, text] : checkpoint.state) {
    check(!is_ours(name), "checkpoint: no state may be named \"", name, "\"");
  }
  out.metadata[kFormatKey] = kFormat;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    check(name != "__metadata__", "checkpoint: no tensor may be named \"", name, "\"");
    check(tensor.defined(), "checkpoint: tensor \"", name, "\" is undefined");
    out.tensors[name] = {tensor.dtype(), tensor.shape()};
    out.metadata[kTensorChecksum + name] = checksum(HostBytes(tensor).get());
  }
  return out;
}

/// Reads the bytes of a tensor to the host and hands them to `inspect` before they go on.
template <class F>
Tensor read_tensor(const SafetensorsFile& file, const StoredTensor& stored, Device& device,
                   const F& inspect) {
  const Tensor out = Tensor::empty(stored.shape, stored.dtype, device);
  std::vector<std::byte> staging(device.is_cuda() ? out.bytes() : 0);
  const std::span<std::byte> bytes =
      device.is_cuda() ? std::span(staging)
                       : std::span(static_cast<std::byte*>(out.raw_data()), out.bytes());
  file.read(stored.begin, bytes);
  inspect(bytes);
  if (device.is_cuda()) {
    device.copy_bytes(out.raw_data(), bytes.data(), bytes.size(), device.stream());
  }
  return out;
}

void check_bytes(std::span<const std::byte> bytes, DType dtype, const std::string* expected,
                 const std::string& where) {
  if (expected) {
    check<IoError>(checksum(bytes) == *expected, where,
                   " does not have its checksum; the file is damaged");
  }
  const auto is_bool = [](std::byte byte) { return byte <= std::byte{1}; };
  check<IoError>(dtype != DType::boolean || std::all_of(bytes.begin(), bytes.end(), is_bool), where,
                 " is BOOL but has bytes that are neither 0 nor 1");
}

}  // namespace

void Checkpoint::save(const std::filesystem::path& path) const {
  SafetensorsHeader header = describe(*this);
  const std::vector<std::string> names = place_tensors(header);
  const std::string text = seal(format_safetensors_header(header));
  const std::uint64_t length = text.size();
  check(std::cmp_less_equal(length, kMostHeaderBytes), "checkpoint: names and state take ", length,
        " bytes, but a header has at most ", kMostHeaderBytes);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(text)));
  for (const std::string& name : names) file.write(HostBytes(tensors.at(name)).get());
  file.commit();
}

Checkpoint Checkpoint::load(const std::filesystem::path& path, Device& device,
                            Integrity integrity) {
  const SafetensorsFile file(path);
  const bool sealed = is_sealed(file.header_text());
  check<IoError>(sealed || integrity == Integrity::any, file.name(),
                 ": the header does not begin with a checksum; the file is damaged or was not "
                 "written by Moiety");
  if (sealed) check_seal(file.header_text(), file.name());
  const SafetensorsHeader header =
      parse_safetensors_header(file.header_text(), file.data_bytes(), file.name());
  const auto& metadata = header.metadata;
  if (sealed) {
    const auto format = metadata.find(kFormatKey);
    check<IoError>(format != metadata.end() && format->second == kFormat, file.name(),
                   ": the checkpoint has another format than ", kFormat,
                   "; load it with the version of Moiety that wrote it");
  }

  Checkpoint out;
  out.source_ = file.name();
  for (const auto& [name, text] : metadata) {
    check<IoError>(sealed || !is_ours(name), file.name(), ": metadata \"", name,
                   "\" but no checksum of the header; the file is damaged or was rewritten by "
                   "another program");
    if (!is_ours(name)) out.state.emplace(name, text);
  }
  for (const auto& [name, stored] : header.tensors) {
    const std::string where = concat(file.name(), ": tensor \"", name, "\"");
    const auto expected = metadata.find(kTensorChecksum + name);
    check<IoError>(!sealed || expected != metadata.end(), where, " has no checksum");
    out.tensors[name] = read_tensor(file, stored, device, [&](std::span<const std::byte> bytes) {
      check_bytes(bytes, stored.dtype, sealed ? &expected->second : nullptr, where);
    });
  }
  return out;
}

}  // namespace moiety::nn
