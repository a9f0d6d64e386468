#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs with apt what Moiety is built from and is missing here; asks nothing when all is there.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache                                  # tools
  libdnnl-dev libeigen3-dev                                     # dense products, linear algebra
  libhdf5-dev librdkit-dev libboost-dev                         # data sets, chemistry
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev           # flags, recipes, JSON
  libfmt-dev libspdlog-dev                                      # messages
  libgtest-dev libbenchmark-dev python3-h5py                    # tests
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "installing: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "run as root once, or install with apt: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >/dev/null
