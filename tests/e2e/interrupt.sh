#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stops a training with SIGTERM, as a job scheduler does, and goes on with the very command that it
# prints:
#   interrupt.sh SOURCE MOIETY
set -euo pipefail
source=$1 moiety=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
PATH="$(dirname "$moiety"):$PATH"

head -n 801 "$source/data/gap_gfn2.csv" > gap.csv
moiety prepare gap.csv -o gap.h5 --target gap_ev,dipole_debye --seed 1
moiety train "$source/recipes/homo_lumo_gine.toml" -o run --set data.path=gap.h5 \
  --set model.hidden=32 --set train.epochs=200 >log 2>&1 &
pid=$!
while [ ! -s run/metrics.jsonl ]; do
  kill -0 "$pid"
  sleep 0.05
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
cat log
[ "$status" -eq 143 ]
grep -q 'training on gap_ev; gap.h5 also has dipole_debye' log
if grep -q 'error' log; then exit 1; fi

resume=$(sed -n 's/^moiety: stopped at step [0-9]*; go on with: //p' log)
echo "\$ $resume"
eval "$resume"
