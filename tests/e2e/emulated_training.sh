#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains the recipes' networks on the emulated GPU and on the CPU, compares the curves, and takes
# what one device has trained to the other:
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
      --set "data.path=$scratch/some.h5" --device "$device" --set model.hidden=32 \
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

# Weights know no device: a run predicts the same on either, wherever it was trained.
head -n 101 "$scratch/some.csv" > "$scratch/few.csv"
for run in gcn.cpu gine.cuda; do
  for device in cpu cuda; do
    "$moiety" predict "$scratch/$run" "$scratch/few.csv" -o "$scratch/$run.$device.csv" \
      --device "$device" >/dev/null
  done
  paste -d, <(cut -d, -f3 "$scratch/$run.cpu.csv") <(cut -d, -f3 "$scratch/$run.cuda.csv") |
    awk -F, -v run="$run" '
      NR > 1 { error = $1 - $2; if (error < 0) error = -error
               if (error > worst) worst = error; n++ }
      END { printf "%s: %d predictions, largest difference %.1e eV\n", run, n, worst
            exit !(n == 100 && worst < 1e-4) }'
done

# A training that began on the GPU goes on on the CPU, and "auto" takes a GPU that is offered.
losses() { grep -o '"loss":[0-9.e-]*' "$1/metrics.jsonl" | sed 's/"loss"://'; }
before=$(losses "$scratch/gcn.cuda" | tail -n 1)
rm "$(ls "$scratch"/gcn.cuda/checkpoints/step_*.ckpt | tail -n 1)"
"$moiety" train "$scratch/gcn.cuda/recipe.toml" -o "$scratch/gcn.cuda" --resume --device cpu \
  >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
grep -q '"device": "cpu"' "$scratch/gcn.cuda/summary.json"
losses "$scratch/gcn.cuda" | tail -n 1 |
  awk -v before="$before" '{ error = ($1 - before) / before; exit !(error^2 < 1e-6) }'
MOIETY_SIMT_OFFERED=1 "$moiety" train "$source/recipes/homo_lumo_gcn.toml" -o "$scratch/auto" \
  --set "data.path=$scratch/some.h5" --set train.max_steps=1 --set model.hidden=8 >/dev/null 2>&1
grep -q '"device": "cuda:0"' "$scratch/auto/summary.json"
