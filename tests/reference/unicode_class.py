#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/data/unicode_class.cpp: the code points of Unicode's letters, numbers and spaces, from
Python's own tables.

    python3 tests/reference/unicode_class.py | clang-format --assume-filename=unicode_class.cpp \\
        > src/data/unicode_class.cpp
"""
import sys
import unicodedata

SPACES = ({*range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)}
          | {0x2028, 0x2029, 0x202F, 0x205F, 0x3000})

CODE = """// SPDX-License-Identifier: Apache-2.0
// Written by tests/reference/unicode_class.py from Unicode {version}.
#include "data/unicode_class.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace moiety::data {{
namespace {{

struct Range {{
  char32_t first, last;
}};

{letters}

{numbers}

{spaces}

template <std::size_t kSize>
bool contains(const std::array<Range, kSize>& ranges, char32_t code) {{
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), code,
      [](char32_t value, const Range& range) {{ return value < range.first; }});
  return after != ranges.begin() && code <= std::prev(after)->last;
}}

}}  // namespace

CharClass char_class(char32_t code) {{
  if (contains(kSpaces, code)) return CharClass::space;
  if (contains(kLetters, code)) return CharClass::letter;
  return contains(kNumbers, code) ? CharClass::number : CharClass::other;
}}

}}  // namespace moiety::data
"""


def ranges(codes):
    """[first, last] of each run of neighbours."""
    out = []
    for code in sorted(codes):
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return out


def array(name, codes):
    pairs = ranges(codes)
    body = ", ".join(f"{{0x{a:X}, 0x{b:X}}}" for a, b in pairs)
    return f"constexpr std::array<Range, {len(pairs)}> {name} = {{{{{body}}}}};"


def of_category(letter):
    return [c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] == letter]


print(CODE.format(version=unicodedata.unidata_version, letters=array("kLetters", of_category("L")),
                  numbers=array("kNumbers", of_category("N")), spaces=array("kSpaces", SPACES)),
      end="")
