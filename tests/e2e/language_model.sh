#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small language model from SMILES to new SMILES, and to another library's folder and back:
#   language_model.sh SOURCE MOIETY
set -euo pipefail
source=$1 moiety=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

head -n 400 "$source/data/gap_gfn2.csv" > some.csv
"$moiety" tokenizer train some.csv -o tokens --kind smiles
"$moiety" prepare some.csv -o texts.h5 --task causal --tokenizer tokens --split random
"$moiety" train "$source/recipes/smiles_gpt.toml" -o run --set data.path=texts.h5 \
  --set train.epochs=3 --set model.hidden=32 --set model.layers=1 --set model.heads=2 \
  --set run.device=cpu

"$moiety" generate run -n 60 -o texts.smi --seed 3 --json figures.json --device cpu
[ "$(wc -l < texts.smi)" = 60 ]
for figure in validity uniqueness novelty trained_on tokens_per_second; do
  grep -q "\"$figure\"" figures.json
done

# Neither the number of threads nor the way by another library's folder changes a text.
"$moiety" generate run -n 60 -o one_thread.smi --seed 3 --threads 1 --device cpu
cmp texts.smi one_thread.smi
"$moiety" export run --format huggingface -o exported
"$moiety" generate exported -n 60 -o exported.smi --seed 3 --device cpu
cmp texts.smi exported.smi
"$moiety" predict run some.csv -o run.csv --device cpu
"$moiety" predict exported some.csv -o exported.csv --device cpu
cmp run.csv exported.csv
