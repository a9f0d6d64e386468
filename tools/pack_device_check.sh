#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs what tools/device_check.sh needs on a machine with a GPU that is off the network: this tree
# (tracked files as they are now) and the sources of GoogleTest and Google Benchmark.
#   tools/pack_device_check.sh moiety.tar.gz
# There: tar xzf moiety.tar.gz && moiety/tools/device_check.sh
# Needs Debian's package googletest (its sources), and the network for Google Benchmark's.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: tools/pack_device_check.sh ARCHIVE.tar.gz" >&2; exit 2; }
archive=$(realpath -m "$1")
cd "$(dirname "$0")/.."
most_bytes=$((50 << 20))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/moiety/third_party" "$work/apt/partial"

# The data set and the tool's recipes are of no use without the data layer.
git ls-files -z -- ':!data' ':!docs' ':!recipes' | tar --create --null --files-from=- |
  tar --extract --directory "$work/moiety"

[ -d /usr/src/googletest ] || {
  echo "no /usr/src/googletest: apt-get install googletest" >&2
  exit 1
}
cp -r /usr/src/googletest "$work/moiety/third_party/googletest"

# A list of source packages of its own: the machine's may name packages alone. The suite is that of
# the installed release.
# shellcheck source=/dev/null
. /etc/os-release
echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >"$work/sources.list"
apt=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
     -o "Dir::State::Lists=$work/apt" -o APT::Sandbox::User=root)
apt-get "${apt[@]}" -qq update
(cd "$work" && apt-get "${apt[@]}" -qq source --download-only benchmark)
mkdir "$work/moiety/third_party/benchmark"
tar --extract --gzip --strip-components=1 --directory "$work/moiety/third_party/benchmark" \
  --file "$work"/benchmark_*.orig.tar.gz

tar --create --gzip --directory "$work" --file "$archive" moiety
bytes=$(stat --format=%s "$archive")
if [ "$bytes" -gt "$most_bytes" ]; then
  echo "$archive has $bytes bytes, more than $most_bytes: something large is tracked" >&2
  exit 1
fi
echo "$archive: $bytes bytes"
