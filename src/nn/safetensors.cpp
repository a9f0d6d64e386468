// SPDX-License-Identifier: Apache-2.0
#include "nn/safetensors.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "nn/json_header.h"

namespace moiety::nn {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 8> kDTypeNames = {
    {{DType::f32, "F32"},
     {DType::f64, "F64"},
     {DType::bf16, "BF16"},
     {DType::f16, "F16"},
     {DType::i64, "I64"},
     {DType::i32, "I32"},
     {DType::u8, "U8"},
     {DType::boolean, "BOOL"}}};

/// Bytes of a tensor of this shape; -1 when no tensor can be so large.
std::int64_t bytes_of(const StoredTensor& tensor) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;  // elements: what a Shape may count
  std::int64_t elements = 1;
  bool empty = false;
  for (const std::int64_t d : tensor.shape) {
    if (d == 0) {
      empty = true;
    } else if (d > kMost / elements) {
      return -1;
    } else {
      elements *= d;
    }
  }
  std::int64_t bytes = 0;
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  return __builtin_mul_overflow(empty ? 0 : elements, size, &bytes) ? -1 : bytes;
}

StoredTensor checked_tensor(const JsonTensor& json, std::int64_t data_bytes,
                            const std::string& where) {
  const auto* found = std::find_if(kDTypeNames.begin(), kDTypeNames.end(),
                                   [&](const auto& entry) { return entry.second == json.dtype; });
  check<IoError>(found != kDTypeNames.end(), where, " has the dtype \"", json.dtype,
                 "\", which is none of F32, F64, BF16, F16, I64, I32, U8, BOOL");
  const StoredTensor out{found->first, Shape(std::span(json.shape)), json.begin, json.end};
  check<IoError>(out.begin <= out.end && out.end <= data_bytes, where, " lies at bytes ", out.begin,
                 " to ", out.end, ", but the file has ", data_bytes,
                 " bytes of data; it is truncated or damaged");
  check<IoError>(bytes_of(out) == out.end - out.begin, where, " has ", out.end - out.begin,
                 " bytes, which do not fit its shape ", out.shape, " of ", out.dtype);
  return out;
}

void check_gapless(const SafetensorsHeader& header, std::int64_t data_bytes,
                   const std::string& source) {
  std::vector<std::tuple<std::int64_t, std::int64_t, std::string_view>> places;
  for (const auto& [name, tensor] : header.tensors) {
    places.emplace_back(tensor.begin, tensor.end, name);
  }
  std::sort(places.begin(), places.end());
  std::int64_t at = 0;
  for (const auto& [begin, end, name] : places) {
    check<IoError>(begin == at, source, ": tensor \"", name, "\" begins at byte ", begin,
                   ", but the one before it ends at ", at, "; the header is damaged");
    at = end;
  }
  check<IoError>(at == data_bytes, source, ": the tensors end at byte ", at, ", but the file has ",
                 data_bytes, " bytes of data; it is damaged");
}

}  // namespace

SafetensorsHeader parse_safetensors_header(const std::string& text, std::int64_t data_bytes,
                                           const std::string& source) {
  JsonHeader json = parse_json_header(text, source);
  SafetensorsHeader out{std::move(json.metadata), {}};
  for (const auto& [name, tensor] : json.tensors) {
    const std::string where = concat(source, ": tensor \"", name, "\"");
    out.tensors.emplace(name, checked_tensor(tensor, data_bytes, where));
  }
  check_gapless(out, data_bytes, source);
  return out;
}

std::vector<std::string> place_tensors(SafetensorsHeader& header) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : header.tensors) names.push_back(name);
  const auto size = [&](const std::string& name) { return size_of(header.tensors.at(name).dtype); };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return size(a) > size(b); });
  std::int64_t at = 0;
  for (const std::string& name : names) {
    StoredTensor& tensor = header.tensors.at(name);
    tensor.begin = at;
    tensor.end = at += bytes_of(tensor);
  }
  return names;
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  JsonHeader json{header.metadata, {}};
  for (const auto& [name, tensor] : header.tensors) {
    const auto* dtype =
        std::find_if(kDTypeNames.begin(), kDTypeNames.end(),
                     [&](const auto& entry) { return entry.first == tensor.dtype; });
    json.tensors[name] = {std::string(dtype->second),
                          {tensor.shape.begin(), tensor.shape.end()},
                          tensor.begin,
                          tensor.end};
  }
  return format_json_header(json);
}

}  // namespace moiety::nn
