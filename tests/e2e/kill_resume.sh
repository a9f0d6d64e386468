#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kills a training with SIGKILL at 20 random moments, resumes it each time, and compares the weights
# it ends with, bit for bit, with those of a training that was never killed:
#   kill_resume.sh SOURCE MOIETY [KILLS]
set -euo pipefail
source=$1 moiety=$2 kills=${3:-20}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
RANDOM=20

head -n 801 "$source/data/gap_gfn2.csv" > "$scratch/gap.csv"
"$moiety" prepare "$scratch/gap.csv" -o "$scratch/gap.h5" --target gap_ev --seed 1
recipe="$source/recipes/homo_lumo_gine.toml"
keys=(--set "data.path=$scratch/gap.h5" --set train.epochs=30 --set model.hidden=32
      --set model.dropout=0.1 --set train.ema=0.99 --set 'run.checkpoint_every=4 steps'
      --set 'run.validate_every=5 steps')

"$moiety" train "$recipe" "${keys[@]}" -o "$scratch/whole" >/dev/null 2>&1
killed=0
while [ "$killed" -lt "$kills" ]; do
  resume=()
  [ -d "$scratch/killed" ] && resume=(--resume)
  "$moiety" train "$recipe" "${keys[@]}" -o "$scratch/killed" "${resume[@]}" \
    >"$scratch/log" 2>&1 &
  pid=$!
  sleep "0.$((RANDOM % 90 + 10))"
  if kill -9 "$pid" 2>/dev/null; then killed=$((killed + 1)); fi
  status=0
  wait "$pid" 2>/dev/null || status=$?
  case $status in
    0) rm -rf "$scratch/killed" ;;  # it ended before the signal came: begin another one
    137) ;;
    *) echo "a resumed training failed:"; cat "$scratch/log"; exit 1 ;;
  esac
done
resume=()
[ -d "$scratch/killed" ] && resume=(--resume)
"$moiety" train "$recipe" "${keys[@]}" -o "$scratch/killed" "${resume[@]}" >/dev/null 2>&1

digest() { "$moiety" inspect "$1" --json | grep -o '"weights": *"[0-9a-f]*"'; }
for file in best last; do
  whole=$(digest "$scratch/whole/checkpoints/$file.ckpt")
  resumed=$(digest "$scratch/killed/checkpoints/$file.ckpt")
  echo "$file: $whole never killed, $resumed killed $killed times"
  [ -n "$whole" ] && [ "$whole" = "$resumed" ]
done
cmp "$scratch/whole/predictions_test.csv" "$scratch/killed/predictions_test.csv"
strip() { sed 's/"seconds":[^,}]*//g' "$1/metrics.jsonl"; }
cmp <(strip "$scratch/whole") <(strip "$scratch/killed")
