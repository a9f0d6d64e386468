#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails where a source file breaks a rule that no compiler checks: style.py REPOSITORY."""
import pathlib
import re
import sys

FOLDERS = ["src", "apps", "tests", "bench", "tools", "examples", "cmake"]
CODE = {".h", ".cuh", ".cpp", ".cu", ".py", ".sh", ".cmake"}
HEADERS = {".h", ".cuh"}
LICENSE = "SPDX-License-Identifier: Apache-2.0"
LIMIT_LINES = 400
LIMIT_COLUMNS = 100
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")


def problems_of(path: pathlib.Path):
    text = path.read_text()
    lines = text.splitlines()
    head = lines[1:2] if text.startswith("#!") else lines[:1]
    if not head or not head[0].endswith(LICENSE):
        yield 1, "the first line must be the SPDX licence"
    if path.suffix in HEADERS and "#pragma once" not in lines:
        yield 1, "a header needs #pragma once"
    if len(lines) > LIMIT_LINES:
        yield len(lines), f"over {LIMIT_LINES} lines: split it by meaning"
    if not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    for number, line in enumerate(lines, 1):
        if "\t" in line:
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "white space at the end"
        if len(line) > LIMIT_COLUMNS:
            yield number, f"{len(line)} columns, more than {LIMIT_COLUMNS}"
        if UNFINISHED.search(line) and path.name != "style.py":
            yield number, "unfinished work belongs in an issue"


def is_code(path: pathlib.Path) -> bool:
    return path.is_file() and (path.suffix in CODE or path.name == "CMakeLists.txt")


def main(root: pathlib.Path) -> int:
    files = [root / "CMakeLists.txt"]
    for folder in FOLDERS:
        files += filter(is_code, sorted((root / folder).rglob("*")))
    found = [f"{path.relative_to(root)}:{number}: {what}"
             for path in files for number, what in problems_of(path)]
    print("\n".join(found) or f"{len(files)} files hold to the style")
    return bool(found)


sys.exit(main(pathlib.Path(sys.argv[1])))
