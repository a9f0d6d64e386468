// SPDX-License-Identifier: Apache-2.0
#include "nn/json_header.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "nn/utf8.h"
#include "tensor/error.h"
#include "tensor/shape.h"

namespace moiety::nn {
namespace {

constexpr std::string_view kMetadata = "__metadata__";

class Parser {
 public:
  Parser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  JsonHeader header() {
    JsonHeader out;
    bool has_metadata = false;
    object([&](const std::string& key) {
      if (key == kMetadata) {
        require(!has_metadata, "__metadata__ comes twice");
        has_metadata = true;
        metadata(out);
      } else {
        require(!out.tensors.contains(key), "tensor \"" + key + "\" comes twice");
        out.tensors.emplace(key, tensor());
      }
    });
    skip_space();
    require(at_ == text_.size(), "there is more behind the header's end");
    return out;
  }

 private:
  void metadata(JsonHeader& out) {
    object([&](const std::string& key) {
      require(!out.metadata.contains(key), "metadata \"" + key + "\" comes twice");
      out.metadata.emplace(key, string());
    });
  }

  JsonTensor tensor() {
    JsonTensor out;
    bool has_dtype = false;
    bool has_shape = false;
    bool has_offsets = false;
    const auto first_time = [&](bool& seen) {
      require(!seen, "a key comes twice in one tensor");
      seen = true;
    };
    object([&](const std::string& key) {
      if (key == "dtype") {
        first_time(has_dtype);
        out.dtype = string();
      } else if (key == "shape") {
        first_time(has_shape);
        out.shape = integers(kMaxDims);
      } else if (key == "data_offsets") {
        first_time(has_offsets);
        const auto offsets = integers(2);
        require(offsets.size() == 2, "data_offsets needs two numbers");
        out.begin = offsets[0];
        out.end = offsets[1];
      } else {
        fail("unknown key \"" + key + "\"");
      }
    });
    require(has_dtype && has_shape && has_offsets, "a tensor needs dtype, shape and data_offsets");
    return out;
  }

  template <class F>
  void object(const F& on_key) {
    expect('{');
    if (take('}')) return;
    do {
      const std::string key = string();
      expect(':');
      on_key(key);
    } while (take(','));
    expect('}');
  }

  std::vector<std::int64_t> integers(std::size_t at_most) {
    std::vector<std::int64_t> out;
    expect('[');
    if (take(']')) return out;
    do {
      require(out.size() < at_most, "more than " + std::to_string(at_most) + " numbers");
      out.push_back(integer());
    } while (take(','));
    expect(']');
    return out;
  }

  std::int64_t integer() {
    skip_space();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const char* limit = text_.data() + text_.size();
    require(begin != limit && *begin >= '0' && *begin <= '9',
            "expected a whole number of 0 or more");
    const auto [end, error] = std::from_chars(begin, limit, value);
    require(error == std::errc(), "a number is beyond 2^63 - 1");
    require(*begin != '0' || end == begin + 1, "a number begins with 0");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::string string() {
    expect('"');
    std::string out;
    while (true) {
      const char c = next();
      if (c == '"') break;
      require(static_cast<unsigned char>(c) >= 0x20, "a control character in a string");
      if (c == '\\') {
        escape(out);
      } else {
        out.push_back(c);
      }
    }
    require(is_utf8(out), "a string is not UTF-8");
    return out;
  }

  void escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const char c = next();
    if (c == 'u') return append_utf8(out, escaped_code_point());
    const std::size_t which = kNames.find(c);
    require(which != std::string_view::npos, "an unknown escape in a string");
    out.push_back(kValues[which]);
  }

  char32_t escaped_code_point() {
    const char32_t high = hex4();
    if (high < 0xD800 || high > 0xDFFF) return high;
    require(high < 0xDC00 && next() == '\\' && next() == 'u', "half of a surrogate pair");
    const char32_t low = hex4();
    require(low >= 0xDC00 && low <= 0xDFFF, "half of a surrogate pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  char32_t hex4() {
    std::uint32_t value = 0;
    require(text_.size() - at_ >= 4, "the header ends within a string");
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, begin + 4, value, 16);
    require(error == std::errc() && end == begin + 4, "\\u needs four hexadecimal digits");
    at_ += 4;
    return value;
  }

  char next() {
    require(at_ < text_.size(), "the header ends too early");
    return text_[at_++];
  }

  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) { require(take(c), std::string("expected ") + c); }

  void require(bool ok, std::string_view what) const {
    if (!ok) fail(what);
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw IoError(concat(source_, ": header, byte ", at_, ": ", what));
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
};

void append_string(std::string& out, const std::string& text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  check<IoError>(is_utf8(text), "a name or text is not UTF-8 and cannot be saved: \"", text, "\"");
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += {kHex[static_cast<std::size_t>(c >> 4)], kHex[static_cast<std::size_t>(c & 15)]};
    } else {
      out += c;
    }
  }
  out += '"';
}

template <class Map, class F>
void append_object(std::string& out, const Map& map, const F& append_value) {
  out += '{';
  for (auto it = map.begin(); it != map.end(); ++it) {
    if (it != map.begin()) out += ',';
    append_string(out, it->first);
    out += ':';
    append_value(it->second);
  }
  out += '}';
}

void append_tensor(std::string& out, const JsonTensor& tensor) {
  out += "{\"dtype\":";
  append_string(out, tensor.dtype);
  out += ",\"shape\":[";
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    if (d > 0) out += ',';
    out += std::to_string(tensor.shape[d]);
  }
  out += concat("],\"data_offsets\":[", tensor.begin, ",", tensor.end, "]}");
}

}  // namespace

JsonHeader parse_json_header(std::string_view text, const std::string& source) {
  return Parser(text, source).header();
}

std::string format_json_header(const JsonHeader& header) {
  std::string out = concat("{\"", kMetadata, "\":");
  append_object(out, header.metadata, [&](const std::string& text) { append_string(out, text); });
  if (!header.tensors.empty()) {
    std::string tensors;
    append_object(tensors, header.tensors,
                  [&](const JsonTensor& tensor) { append_tensor(tensors, tensor); });
    out += ',';
    out.append(tensors, 1, tensors.size() - 2);
  }
  return out + '}';
}

}  // namespace moiety::nn
