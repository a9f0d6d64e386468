#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains the recipes' networks on the emulated GPU and on the CPU, and compares the curves:
#   emulated_training.sh SOURCE MOIETY
set -euo pipefail
source=$1 moiety=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

head -n 401 "$source/data/gap_gfn2.csv" > "$scratch/some.csv"
"$moiety" prepare "$scratch/some.csv" -o "$scratch/some.h5" --target gap_ev --seed 1 >/dev/null 2>&1
for model in gcn gine; do
  for device in cpu cuda; do
    "$moiety" train "$source/recipes/homo_lumo_$model.toml" -o "$scratch/$model.$device" \
      --set "data.path=$scratch/some.h5" --set "run.device=$device" --set model.hidden=32 \
      --set train.epochs=3 --set model.dropout=0.1 >/dev/null 2>"$scratch/log" ||
      { cat "$scratch/log"; exit 1; }
  done
  paste <(grep -o '"loss":[0-9.e-]*' "$scratch/$model.cpu/metrics.jsonl") \
        <(grep -o '"loss":[0-9.e-]*' "$scratch/$model.cuda/metrics.jsonl") |
    sed 's/"loss"://g' | awk -v model="$model" '
      { error = ($1 - $2) / $1; if (error < 0) error = -error
        if (error > worst) worst = error; n++ }
      END { printf "%s: %d losses, largest relative difference %.1e\n", model, n, worst
            exit !(n == 6 && worst < 1e-3) }'
done
