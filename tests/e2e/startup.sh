#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the tool loads at its start: CUDA's libraries take half a second, so that none is linked. The
# driver is looked for by commands that ask for GPUs, and cuBLASLt by those that use one:
#   startup.sh MOIETY
set -euo pipefail
moiety=$1
cuda='libcudart|libcublas|libcudnn|libnccl'

# loads PATTERN COMMAND...: whether the command looks for such a library.
loads() {
  local pattern=$1
  shift
  LD_DEBUG=files "$@" 2>&1 >/dev/null </dev/null | grep -E "file=($pattern)" >&2
}

loads libRDKitSmilesParse "$moiety" --version 2>/dev/null  # else nothing is seen here
if loads "$cuda|libcuda\." "$moiety" --version; then exit 1; fi
if loads "$cuda|libcuda\." "$moiety" recipe; then exit 1; fi
if loads "$cuda" "$moiety" devices; then exit 1; fi
