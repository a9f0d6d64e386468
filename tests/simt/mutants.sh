#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plants each mistake of mutants.txt in a kernel and runs the tests that must fail for it:
#   mutants.sh SOURCE BUILD [WORD]
# BUILD is a Ninja tree of the preset simt-check with autograd_tests and kernels_tests; with WORD
# only lines of mutants.txt that contain it are tried. Every .cu file needs two mistakes of its own.
set -euo pipefail
source=$(realpath "$1") build=$(realpath "$2") word=${3:-}
kernels=$source/src/kernels
scratch=$build/mutants  # the same place every time, for ccache
jobs=2
cd "$build"

# What the checker says; a test that fails without it has compared numbers.
checker='race on|out of bounds:|uninitialised:|misaligned:|not device memory:|divergent '
checker+='|deadlock in|livelock:|too much shared|takes no part|lacks the calling lane'

# last_command TARGET: how the build tree makes it, from its root.
last_command() { ninja -t commands -s "$1"; }

# run PROGRAM-FILE FILTER LOG: the exit code of these tests.
run() {
  local status=0
  timeout 120 "$1" --gtest_filter="$2" --gtest_brief=1 --gtest_fail_fast >"$3" 2>&1 || status=$?
  echo "$status"
}

# plant FOLDER FILE EXPRESSION PROGRAM FILTER: prints what catches the mistake, or what went wrong.
# FILE is a .cu, or HEADER.cuh@FILE.cu: a header, and the file that is compiled with it.
plant() {
  local folder=$1 header=${2%@*} unit=${2#*@} expression=$3 program=$4 filter=$5
  local original=$kernels/$header mutant=$folder/$header compiled=$folder/$unit compile link status
  if [ "$header" != "$unit" ]; then
    original=$kernels/cuda/$header mutant=$folder/kernels/cuda/$header compiled=$kernels/$unit
  fi
  mkdir -p "$(dirname "$mutant")"
  sed "$expression" "$original" >"$mutant" || { echo "SED FAILED"; return; }
  if cmp -s "$original" "$mutant"; then echo "CHANGES NOTHING"; return; fi
  compile=$(last_command "src/CMakeFiles/moiety_kernels_objects.dir/kernels/$unit.o")
  # Quoted includes are looked for in the folder first. Without what Ninja keeps of dependencies,
  # without line numbers, which take as long as the code, and without warnings.
  eval "${compile%% -MD *} -g0 -w -iquote '$folder' -o '$folder/mutant.o' -c '$compiled'" \
    >"$folder/log" 2>&1 || { echo "DOES NOT COMPILE"; return; }
  link=$(last_command "bin/$program")
  eval "${link/ -o bin\/$program / -o \"$folder/tests\" \"$folder/mutant.o\" }" \
    >"$folder/log" 2>&1 || { echo "DOES NOT LINK"; return; }
  status=$(run "$folder/tests" "$filter" "$folder/log")
  rm -f "$folder/tests" "$folder/mutant.o"
  case $status in
    0) if grep -q '\] 0 tests' "$folder/log"; then echo "NO SUCH TEST"; else echo "SURVIVES"; fi ;;
    124) echo "timeout" ;;
    *) if grep -qE "$checker" "$folder/log"; then echo "checker"
       elif [ "$status" -ge 126 ]; then echo "crash"
       else echo "numbers"; fi ;;
  esac
}

mapfile -t lines < <(grep -v -e '^#' -e '^$' "$source/tests/simt/mutants.txt" | grep -F -- "$word")
for file in "$kernels"/*.cu; do
  name=$(basename "$file")
  if [ -z "$word" ] && [ "$(printf '%s\n' "${lines[@]}" | grep -c "^$name |")" -lt 2 ]; then
    echo "mutants.txt needs two mistakes in $name at least"
    exit 1
  fi
done
rm -rf "$scratch"
declare -A filters=()
files=() expressions=() programs=() tests=() whats=()
for line in "${lines[@]}"; do
  IFS=$'\t' read -r file expression filter what <<<"${line// | /$'\t'}"
  # "kernels: FILTER" where the tests are in kernels_tests.
  case $filter in "kernels: "*) program=kernels_tests ;; *) program=autograd_tests ;; esac
  filter=${filter#kernels: }
  files+=("$file") expressions+=("$expression") programs+=("$program") tests+=("$filter")
  whats+=("$what")
  filters[$program]+="$filter:"
done

mkdir -p "$scratch"
for program in "${!filters[@]}"; do
  if [ "$(run "bin/$program" "${filters[$program]}" "$scratch/log")" != 0 ]; then
    cat "$scratch/log"
    echo "the tests fail without a mistake: $program"
    exit 1
  fi
done

for i in "${!files[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  plant "$scratch/$i" "${files[i]}" "${expressions[i]}" "${programs[i]}" "${tests[i]}" \
    >"$scratch/$i.result" &
done
wait

caught=0
for i in "${!files[@]}"; do
  result=$(cat "$scratch/$i.result")
  case $result in checker | numbers | crash | timeout) caught=$((caught + 1)) ;; esac
  printf '%-44s %-72s %s\n' "${files[i]}" "${whats[i]}" "$result"
done
echo "$caught of ${#files[@]} mutants caught"
[ "$caught" = "${#files[@]}" ]
