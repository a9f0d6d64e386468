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
# train MODEL DEVICE RUN KEYS...: three epochs of a small recipe.
train() {
  "$moiety" train "$source/recipes/homo_lumo_$1.toml" -o "$scratch/$3" --device "$2" \
    --set "data.path=$scratch/some.h5" --set model.hidden=32 --set train.epochs=3 \
    --set model.dropout=0.1 "${@:4}" >/dev/null 2>"$scratch/log" || { cat "$scratch/log"; exit 1; }
}
losses() { grep -o '"loss":[0-9.e-]*' "$scratch/$1/metrics.jsonl" | sed 's/"loss"://'; }
# compare RUN OTHER LEAST MOST: how far the losses are apart, relatively.
compare() {
  paste <(losses "$1") <(losses "$2") | awk -v runs="$1 and $2" -v least="$3" -v most="$4" '
    { error = ($1 - $2) / $1; if (error < 0) error = -error
      if (error > worst) worst = error; n++ }
    END { printf "%s: %d losses, largest relative difference %.1e\n", runs, n, worst
          exit !(n == 6 && worst >= least && worst < most) }'
}

for model in gcn gine; do
  train "$model" cpu "$model.cpu"
  train "$model" cuda "$model.cuda"
  compare "$model.cpu" "$model.cuda" 0 1e-3
done

# Faster number formats are others, and follow f32.
train gine cuda gine.tf32 --set train.precision=tf32
compare gine.cuda gine.tf32 1e-6 5e-3
train gine cuda gine.bf16 --set train.precision=bf16
compare gine.cuda gine.bf16 1e-4 3e-2

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

# A training that began on the GPU goes on on the CPU.
before=$(losses gcn.cuda | tail -n 1)
rm "$(ls "$scratch"/gcn.cuda/checkpoints/step_*.ckpt | tail -n 1)"
"$moiety" train "$scratch/gcn.cuda/recipe.toml" -o "$scratch/gcn.cuda" --resume --device cpu \
  >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
grep -q '"device": "cpu"' "$scratch/gcn.cuda/summary.json"
losses gcn.cuda | tail -n 1 |
  awk -v before="$before" '{ error = ($1 - before) / before; exit !(error^2 < 1e-6) }'

# "auto" takes a GPU that is offered. One without the memory for it ends a training with words, and
# the checkpoint is there.
auto=(--set "data.path=$scratch/some.h5" --set train.max_steps=2 --set model.hidden=8
      --set 'run.checkpoint_every=1 steps')
MOIETY_SIMT_OFFERED=1 "$moiety" train "$source/recipes/homo_lumo_gcn.toml" -o "$scratch/auto" \
  "${auto[@]}" >/dev/null 2>&1
grep -q '"device": "cuda:0"' "$scratch/auto/summary.json"
rm "$scratch/auto/checkpoints/step_000000002.ckpt"
resume=("$moiety" train "$scratch/auto/recipe.toml" -o "$scratch/auto" --resume --device cuda)
status=0
MOIETY_SIMT_MEMORY=40 "${resume[@]}" >"$scratch/log" 2>&1 || status=$?
[ "$status" = 1 ]
grep 'out of memory on cuda:0: asked for .* MiB; this process holds .* of 40 MiB are free; lower' \
  "$scratch/log" | grep -F 'data.batch_size (64)' | grep -F 'step_000000001.ckpt is kept'
"${resume[@]}" | grep '^memory: peak .* of 4.0 GiB on cuda:0'
