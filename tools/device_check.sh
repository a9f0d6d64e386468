#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that only a GPU can show, in at most ten minutes: builds the core, compares the
# wrappers of instructions with the emulator's record, runs the tests on the GPU, measures the
# kernels, beside PyTorch's where Python has it, and runs tests under compute-sanitizer. A part that
# fails does not stop the others; each has its own limit.
#   tools/device_check.sh                    builds in build/device_check
#   tools/device_check.sh --built FOLDER     uses what is built there
# Needs CMake 3.25, ninja, g++ and the CUDA toolkit. GoogleTest and Google Benchmark come from the
# system or from third_party/ (tools/pack_device_check.sh). Environment:
#   OUT                    where results.md, bench.md and log.txt go; build/device_check by default
#   MOIETY_SIMT=fast       no GPU: the emulator instead, with tiny shapes; times then mean nothing
#   MOIETY_CHECK_SECONDS   for all parts together; 570 by default
#   PYTHON                 the one that may have PyTorch; python3 by default
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$PWD/build/device_check
must_build=yes
if [ $# -eq 2 ] && [ "$1" = --built ]; then
  build=$(realpath "$2")
  must_build=no
elif [ $# -ne 0 ]; then
  echo "usage: tools/device_check.sh [--built FOLDER]" >&2
  exit 2
fi
simt=${MOIETY_SIMT:-}
out=$(realpath -m "${OUT:-$PWD/build/device_check}")
mkdir -p "$out"
log=$out/log.txt
: >"$log"
parts=$out/parts.md
: >"$parts"
deadline=$((SECONDS + ${MOIETY_CHECK_SECONDS:-570}))
failures=0

note() { printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" "$4" | tee -a "$parts"; }

# part NAME LIMIT COMMAND...: runs it for at most LIMIT seconds, and not beyond the deadline. What
# it prints goes to the log; its last line, or what went wrong, to the table.
part() {
  local name=$1 limit=$2 left=$((deadline - SECONDS))
  shift 2
  [ "$limit" -lt "$left" ] || limit=$left
  if [ "$limit" -lt 1 ]; then
    note "$name" "not run" 0 "no time was left"
    failures=$((failures + 1))
    return
  fi
  printf '\n=== %s: %s\n' "$name" "$*" >>"$log"
  local begin=$SECONDS text status
  text=$(mktemp)
  timeout --kill-after=5 "$limit" "$@" >"$text" 2>&1
  status=$?
  cat "$text" >>"$log"
  local last
  last=$(grep -v '^[[:space:]]*$' "$text" | tail -n 1 | tr '|' '/' | cut -c 1-160)
  local verdict=passed
  if [ $status -eq 124 ] || [ $status -eq 137 ]; then
    verdict="stopped after $limit s"
  elif [ $status -ne 0 ]; then
    verdict="failed ($status)"
  elif grep -q -E 'no GPU to compare|] 0 tests from|\[  SKIPPED \]' "$text"; then
    verdict="failed (nothing ran on a GPU)"
  fi
  [ "$verdict" = passed ] || failures=$((failures + 1))
  rm -f "$text"
  note "$name" "$verdict" $((SECONDS - begin)) "$last"
}

have() { [ -x "$build/bin/$1" ]; }

# tested NAME LIMIT PROGRAM ARGUMENT...: a part of a program that may not have been built.
tested() {
  local name=$1 limit=$2 program=$3
  shift 3
  if ! have "$program"; then
    note "$name" "failed (not built)" 0 "$program"
    failures=$((failures + 1))
    return
  fi
  part "$name" "$limit" "$build/bin/$program" "$@"
}

# cuBLASLt may come with the toolkit or with PyTorch's packages.
python=$(command -v "${PYTHON:-python3}" || true)
if [ -z "$simt" ]; then
  export PATH=$PATH:/usr/local/cuda/bin
  libraries=/usr/local/cuda/lib64
  if [ -n "$python" ]; then
    site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    for folder in "$site"/nvidia/*; do
      [ ! -d "$folder/lib" ] || libraries=$libraries:$folder/lib
      if [ -f "$folder/include/cublasLt.h" ] && [ ! -f /usr/local/cuda/include/cublasLt.h ]; then
        export CPATH=${CPATH:+$CPATH:}$folder/include
      fi
    done
  fi
  export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries
fi

machine="$(uname -n), $(nproc) cores"
if [ -n "$simt" ]; then
  machine="$machine, emulated GPU: times mean nothing"
elif gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null); then
  machine="$machine, $(echo "$gpu" | head -n 1)"
fi

programs=(conformance_tests moiety_bench tensor_tests kernels_tests autograd_tests nn_tests)
if [ $must_build = yes ]; then
  part configure 60 cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DMOIETY_CUDA=ON "-DMOIETY_SIMT=$simt" -DMOIETY_DATA=OFF -DMOIETY_ONEDNN=OFF \
    -DMOIETY_TESTS=ON -DMOIETY_BENCH=ON -DMOIETY_WERROR=OFF
  part build 300 ninja -C "$build" -k 0 -j "$(nproc)" "${programs[@]}"
fi

tested "instructions" 30 conformance_tests

# The same cases as ctest -L cuda. On the emulator ctest has them all among the others.
gpu_cases='Gpus/*:*OnGpu*:*/cuda*:WideRows.*'
layers=(tensor kernels autograd nn)
[ -z "$simt" ] || layers=(tensor)
for layer in "${layers[@]}"; do
  tested "$layer on the GPU" 90 "${layer}_tests" --gtest_brief=1 "--gtest_filter=$gpu_cases"
done

tiny=()
[ -z "$simt" ] || tiny=(--tiny)
if have moiety_bench; then
  # shellcheck disable=SC2016  # for the bash that runs it
  part "benchmarks" 120 bash -o pipefail -c '"$0" --device cuda --table "${@:2}" | tee "$1"' \
    "$build/bin/moiety_bench" "$out/bench.md" "${tiny[@]}"
else
  note "benchmarks" "failed (not built)" 0 moiety_bench
  failures=$((failures + 1))
fi
if [ -n "$python" ] && [ -f "$out/bench.md" ]; then
  device=cuda
  [ -z "$simt" ] || device=cpu
  if "$python" -c 'import torch' 2>/dev/null; then
    part "PyTorch" 90 "$python" bench/peers/torch_kernels.py --device "$device" "${tiny[@]}" \
      "$out/bench.md" "$out/torch.md"
  else
    note "PyTorch" "skipped" 0 "$python has no torch"
  fi
  part "comparison" 10 "$python" bench/peers/compare.py "$out/bench.md" "$out/torch.md" \
    bench/PREDICTIONS.md "$out/compared.md"
fi

# Ours beside cuDNN's: the same rows.
if [ -z "$simt" ] && have moiety_bench; then
  # shellcheck disable=SC2016  # for the bash that runs it
  part "cuDNN's attention" 60 bash -o pipefail -c \
    '"$0" --device cuda --attention cudnn --table "--benchmark_filter=attention/forward.*bf16" |
      tee "$1"' "$build/bin/moiety_bench" "$out/cudnn.md"
fi

# Last: the slowest, and of no use where the machine hides the GPU's debugger. Small shapes of every
# operation, forward and backward, and of those that use shared memory.
if [ -z "$simt" ]; then
  small='-*000*:*00x*:*_n500*'
  shared=(softmax norm sum_ mean_ max_ log_sum_exp transpose embedding segment message)
  races=$(printf '*OnGpu.SameBitsEveryTime/*%s*:' "${shared[@]}")
  tiles='*AttentionMmaOnGpu*/*short*:*AttentionMmaOnGpu*/*dropout_causal*'
  if ! command -v compute-sanitizer >/dev/null; then
    note "memcheck, racecheck" "skipped" 0 "no compute-sanitizer"
  elif have autograd_tests; then
    part "memcheck" 60 compute-sanitizer --tool memcheck --error-exitcode 99 \
      "$build/bin/autograd_tests" --gtest_brief=1 \
      "--gtest_filter=$tiles:*OnGpu.SameBitsEveryTime/*$small"
    part "racecheck" 60 compute-sanitizer --tool racecheck --error-exitcode 99 \
      "$build/bin/autograd_tests" --gtest_brief=1 "--gtest_filter=$tiles:${races%:}$small"
  fi
fi

{
  printf '# Device check\n\n%s, %s\n\n' "$(date --utc +%F)" "$machine"
  printf '| part | result | seconds | last line |\n|---|---|---|---|\n'
  cat "$parts"
  for table in compared cudnn; do
    if [ -f "$out/$table.md" ]; then
      echo
      cat "$out/$table.md"
    fi
  done
} >"$out/results.md"
rm -f "$parts" "$out/torch.md" "$out/compared.md"
echo
echo "$failures failed; $out/results.md, $out/log.txt"
[ $failures -eq 0 ]
