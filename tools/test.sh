#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up and passes the tests: installs what is missing, builds and runs every test.
#   tools/test.sh              all of the following
#   tools/test.sh release      only these presets:
#     release core debug tsan    the release build, the core alone, both sanitizer builds
#     simt simt-check            the CUDA backend on an emulated GPU, plain and with every access of
#                                a kernel checked (debug has it under its sanitizers)
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_dependencies.sh
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(release core debug tsan simt simt-check)
for preset in "${presets[@]}"; do
  echo "=== preset $preset"
  cmake --preset "$preset" -Wno-dev >/dev/null
  cmake --build --preset "$preset" -j "$(nproc)" | tail -n 3
  ctest --preset "$preset"
done
