#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a clean Debian or Ubuntu to a trained model: installs what is missing, builds, prepares the
# data set that ships, trains a GCN and a GINE on it and shows their errors beside the baselines.
#   tools/quickstart.sh [--set section.key=value]...      recipe keys for both trainings
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install_dependencies.sh
cmake --preset release -DMOIETY_TESTS=OFF -DMOIETY_BENCH=OFF -B build/quickstart -Wno-dev >/dev/null
cmake --build build/quickstart -j "$(nproc)"
moiety=build/quickstart/bin/moiety

runs=runs/quickstart
[ ! -e "$runs" ] || echo "replacing the results of an earlier quick start in $runs"
rm -rf "$runs"
mkdir -p "$runs"
"$moiety" prepare data/gap_gfn2.csv -o "$runs/gap_gfn2.h5" --target gap_ev --split column
for model in gcn gine; do
  "$moiety" train "recipes/homo_lumo_$model.toml" -o "$runs/$model" \
    --set "data.path=$runs/gap_gfn2.h5" "$@"
done

echo
echo "HOMO-LUMO gaps of small organic molecules (GFN2-xTB):"
"$moiety" report "$runs/gcn" "$runs/gine" -o "$runs/report.html"
awk -F' *\\| *' '/random forest on Morgan/ { print "compare " $2 ": test MAE " $4 " eV" }' \
  data/README.md
