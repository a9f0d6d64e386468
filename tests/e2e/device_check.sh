#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# device_check.sh SOURCE BUILD: tools/device_check.sh on the emulator, with what BUILD has, and on
# programs that fail, are missing or do not end: the parts behind them run all the same.
set -euo pipefail
source=$1
build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export MOIETY_SIMT=fast

fail() {
  echo "$1" >&2
  cat "$folder"/*/results.md >&2
  exit 1
}

OUT=$folder/whole "$source/tools/device_check.sh" --built "$build" || fail "the emulator fails"
results=$folder/whole/results.md
for line in '^| instructions | passed |' '^| tensor on the GPU | passed |' \
  '^| benchmarks | passed |' '^| comparison | passed |' \
  '^| elementwise/relu/4096/bf16 | cuda:0 | [0-9]' 'Emulated GPU'; do
  grep -q "$line" "$results" || fail "no line $line"
done

mkdir -p "$folder/broken/bin"
printf '#!/bin/sh\necho a kernel broke\nexit 3\n' >"$folder/broken/bin/conformance_tests"
printf '#!/bin/sh\nexec sleep 100\n' >"$folder/broken/bin/moiety_bench"
chmod +x "$folder"/broken/bin/*
export MOIETY_CHECK_SECONDS=3 OUT=$folder/out
if "$source/tools/device_check.sh" --built "$folder/broken"; then fail "broken programs pass"; fi
results=$folder/out/results.md
for line in '^| instructions | failed (3) | [0-9]* | a kernel broke |' \
  '^| tensor on the GPU | failed (not built) |' '^| benchmarks | stopped after [0-9]* s |'; do
  grep -q "$line" "$results" || fail "no line $line"
done
