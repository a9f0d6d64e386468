#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build into a scratch folder, builds examples/ against it alone and trains with it:
#   install.sh SOURCE BUILD MOIETY
set -euo pipefail
source=$1 build=$2 moiety=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
cmake -S "$source/examples" -B "$scratch/examples" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$scratch/prefix" -Wno-dev >/dev/null
cmake --build "$scratch/examples" >/dev/null
"$scratch/prefix/bin/moiety" --version
"$moiety" prepare "$source/data/gap_gfn2.csv" -o "$scratch/gap.h5" --target gap_ev --split column
"$scratch/examples/train_gcn" "$scratch/gap.h5" 1 | tee "$scratch/out"
grep -q '^test MAE [0-9.]* eV$' "$scratch/out"

# Missing labels are left out; what is no target for regression is refused by name.
awk -F, 'NR > 801 { exit } NR > 1 && NR % 5 == 0 { $2 = "" } 1' OFS=, \
  "$source/data/gap_gfn2.csv" >"$scratch/gaps.csv"
"$moiety" prepare "$scratch/gaps.csv" -o "$scratch/gaps.h5" --target gap_ev,dipole_debye
"$scratch/examples/train_gcn" "$scratch/gaps.h5" 1 | grep '^test MAE [0-9.]* eV$'
"$moiety" prepare "$scratch/gaps.csv" -o "$scratch/bare.h5"
if "$scratch/examples/train_gcn" "$scratch/bare.h5" 2>"$scratch/err"; then exit 1; fi
grep 'bare.h5 has no target for regression' "$scratch/err"
