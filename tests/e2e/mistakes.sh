#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the tool does with inputs, outputs and streams that cannot be used: the exit code says
# whether the user (2) or the machine (1) is to blame, the message names the file, and nothing hangs
# or is lost:
#   mistakes.sh SOURCE MOIETY
set -euo pipefail
source=$1 moiety=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# expect CODE TEXT COMMAND...: the command ends with the code and says the text.
expect() {
  local code=$1 text=$2 status=0
  shift 2
  timeout 60 "$@" >out 2>&1 </dev/null || status=$?
  if [ "$status" != "$code" ] || ! grep -qF -- "$text" out; then
    echo "expected exit code $code and '$text', got $status from: $*"
    cat out
    exit 1
  fi
}

head -n 201 "$source/data/gap_gfn2.csv" >gap.csv
recipe="$source/recipes/homo_lumo_gcn.toml"
"$moiety" prepare gap.csv -o gap.h5 --target gap_ev --seed 1 >/dev/null
train=("$moiety" train "$recipe" --set data.path=gap.h5 --set train.epochs=1 --set model.hidden=8)
expect 0 "report" "${train[@]}" -o run
mkfifo pipe pipe.csv pipe.h5 pipe.toml
before=$(find run -type f -exec cksum {} + | sort)

# Inputs that are missing, or not what they should be.
expect 2 "none.h5" "$moiety" evaluate run none.h5
cp gap.csv table.h5
expect 2 "not a moiety data set" "$moiety" evaluate run table.h5
expect 2 "neither a run directory nor a checkpoint" "$moiety" evaluate table.h5 gap.h5
expect 2 "none.csv" "$moiety" prepare none.csv -o new.h5
expect 2 "none.csv" "$moiety" predict run none.csv -o new.csv
expect 2 "device cuda" "$moiety" evaluate run gap.h5 --device cuda:99
expect 2 "device cuda" "$moiety" predict run gap.csv -o new.csv --device cuda:99
expect 2 "device cuda" "${train[@]}" -o other --device cuda:99
expect 2 "unknown device" "${train[@]}" -o other --device gpu
expect 2 "train.precision" "${train[@]}" -o other --device cpu --set train.precision=tf32
expect 2 "there is no folder" "$moiety" prepare gap.csv -o nowhere/new.h5
expect 2 "there is no folder" "$moiety" predict run gap.csv -o nowhere/new.csv
expect 2 "there is no folder" "$moiety" report run -o nowhere/new.html
head -c 9000 gap.h5 >cut.h5
expect 1 "cut.h5" "$moiety" evaluate run cut.h5

# Tokens where graphs are needed, and tokenizers that do not fit.
"$moiety" prepare gap.csv -o tokens.h5 --task mlm >/dev/null
expect 2 "tokens.h5" "$moiety" evaluate run tokens.h5
expect 2 "no graphs" "$moiety" predict run tokens.h5 -o new.csv
expect 2 "no --target" "$moiety" prepare gap.csv -o new.h5 --task causal --target gap_ev
mkdir words
printf 'C\nN\nO\n' >words/vocab.txt
expect 2 "no mask token" "$moiety" prepare gap.csv -o new.h5 --task mlm --tokenizer words
printf '[MASK]\n' >>words/vocab.txt
expect 0 "rows rejected" "$moiety" prepare gap.csv -o few.h5 --task mlm --tokenizer words
grep -q "not in the vocabulary" few.h5.rejects.csv
expect 0 "vocabulary" "$moiety" inspect few.h5
[ ! -e new.h5 ]

# Pipes are refused, not waited for.
expect 2 "pipe.csv" "$moiety" prepare pipe.csv -o new.h5
expect 2 "pipe" "$moiety" prepare gap.csv -o new.h5 --split pipe
expect 2 "pipe.csv" "$moiety" predict run pipe.csv -o new.csv
expect 2 "pipe.h5" "$moiety" evaluate run pipe.h5
expect 2 "pipe.h5" "$moiety" inspect pipe.h5
expect 2 "pipe.toml" "$moiety" recipe pipe.toml
expect 2 "pipe.toml" "$moiety" train pipe.toml -o other
[ ! -e other ]
expect 2 "pipe is a pipe" "$moiety" predict run gap.csv -o pipe

# Outputs that would replace what is read.
expect 2 "is the input" "$moiety" prepare gap.csv -o gap.csv --overwrite
expect 2 "is the input" "$moiety" predict run gap.csv -o ./gap.csv
expect 2 "a file of the run" "$moiety" predict run gap.csv -o run/recipe.toml
expect 2 "a file of the run" "$moiety" report run -o run/checkpoints/best.ckpt
expect 2 "is the input" "$moiety" predict run/checkpoints/best.ckpt gap.csv -o \
  run/checkpoints/best.ckpt
[ "$before" = "$(find run -type f -exec cksum {} + | sort)" ]
cmp <(head -n 201 "$source/data/gap_gfn2.csv") gap.csv

# Streams that are closed: results that cannot be shown are a failure, progress is not.
status=0
"$moiety" inspect gap.h5 >&- 2>err || status=$?
[ "$status" = 1 ]
grep -q "standard output" err
"$moiety" predict run gap.csv -o one.csv 2>&- >/dev/null
"$moiety" predict run gap.csv -o two.csv >/dev/null 2>&1
cmp one.csv two.csv
"$moiety" inspect none.h5 2>&- && exit 1

# Memory that the system refuses. Sanitizers need more of the address space than there is here.
small=(bash -c 'ulimit -v 1500000; exec "$@"' small)
if "${small[@]}" "$moiety" --version >/dev/null 2>&1; then
  expect 1 "lower data.batch_size (64)" "${small[@]}" "${train[@]}" -o large --device cpu \
    --set model.hidden=4096
  grep 'out of memory on cpu: asked for .* MiB; this process holds .* MiB, .* MiB are free' out
fi

# A file that may not grow stands for a full disk, in a spool and in the data set.
head -n 2001 "$source/data/gap_gfn2.csv" >large.csv
for kilobytes in 8 300; do
  status=0
  (trap '' XFSZ; ulimit -f "$kilobytes"
   "$moiety" prepare large.csv -o large.h5 >/dev/null 2>err) ||
    status=$?
  [ "$status" = 1 ]
  grep "^moiety: error: large.h5.*: File too large$" err
  [ "$(grep -c . err)" -le 2 ]
  [ ! -e large.h5 ]
done
