#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a layer of src/ includes one that it may not know: include_directions.py SRC."""
import pathlib
import re
import sys

ALLOWED = {
    "tensor": set(),
    "kernels": {"tensor"},
    "autograd": {"tensor", "kernels"},
    "nn": {"tensor", "kernels", "autograd"},
    "dist": {"tensor", "kernels", "autograd", "nn"},
    "data": {"tensor"},
}
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"/]+)/')


def violations(source: pathlib.Path):
    for path in sorted(source.rglob("*")):
        if path.suffix not in {".h", ".cuh", ".cpp", ".cu"}:
            continue
        layer = path.relative_to(source).parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found and found[1] != layer and found[1] not in ALLOWED[layer]:
                yield f"{path}:{number}: {layer} may not include {found[1]}"


problems = list(violations(pathlib.Path(sys.argv[1])))
print("\n".join(problems) or "include directions hold")
sys.exit(bool(problems))
