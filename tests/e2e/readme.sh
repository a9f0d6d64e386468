#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every command of README.md in a copy of the sources, in order, in one shell:
#   readme.sh SOURCE
# The set-up commands run shortened: the quick start trains one epoch, and the test command, which
# runs this script, is only looked up.
set -euo pipefail
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/moiety"
(cd "$source" && tar cf - --exclude=./build --exclude=./runs --exclude=./.git .) |
  tar xf - -C "$scratch/moiety"
cd "$scratch/moiety"

awk '/^```sh$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md > "$scratch/commands"
[ "$(wc -l < "$scratch/commands")" -ge 8 ]
while IFS= read -r command; do
  case $command in
    tools/quickstart.sh) command="tools/quickstart.sh --set train.epochs=1" ;;
    tools/test.sh) command="test -x tools/test.sh" ;;
  esac
  echo "\$ $command"
  eval "$command" </dev/null
done < "$scratch/commands"

awk '/^```python$/ {inside = 1; next} /^```$/ {inside = 0} inside' README.md > "$scratch/read.py"
echo 'print(smiles, x.shape, src, dst, bonds.shape, y)' >> "$scratch/read.py"
for python in python3 /usr/bin/python3 none; do
  [ "$python" != none ] || { echo "no Python with h5py: apt install python3-h5py"; exit 1; }
  if "$python" -c 'import h5py' 2>/dev/null; then break; fi
done
"$python" "$scratch/read.py"
