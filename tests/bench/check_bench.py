#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs moiety_bench where its times mean nothing and checks what it prints.

check_bench.py BENCH cpu                  a table of a few kernels on the CPU
check_bench.py BENCH cuda                 a table of all kernels on a GPU, or an emulated one
check_bench.py BENCH predictions FILE     bytes and FLOP of bench/PREDICTIONS.md are the program's
"""
import subprocess
import sys


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def rows(text: str) -> list[list[str]]:
    """Cells of the rows of Markdown tables whose first cell is a benchmark's name."""
    cut = [[cell.strip() for cell in line.strip("|").split("|")]
           for line in text.splitlines() if line.startswith("| ")]
    return [cells for cells in cut if cells[0].count("/") >= 3]


def check_table(bench: str, device: str, *more: str) -> None:
    table = rows(run(bench, "--device", device, "--tiny", "--table", *more))
    work = [cells[0] for cells in rows(run(bench, "--device", device, "--tiny", "--work"))]
    wanted = [name for name in work if not more or "/relu/" in name]
    if list(dict.fromkeys(cells[0] for cells in table)) != wanted or not wanted:
        sys.exit(f"rows {[cells[0] for cells in table]}, expected {wanted}")
    for name, place, micros, bandwidth, flops, fraction in table:
        product = name.startswith(("gemm/", "linear/relu/"))
        numbers = [micros, bandwidth, fraction] + [flops] * product
        if not all(float(number) > 0 for number in numbers) or not place:
            sys.exit(f"{name}: {numbers} on {place}")
    print(f"{len(table)} rows on {device}")


def check_predictions(bench: str, path: str) -> None:
    work = {name: (int(bytes_), int(flops))
            for name, bytes_, flops in rows(run(bench, "--device", "cuda", "--work"))}
    with open(path) as file:
        predicted = {cells[0]: tuple(int(cell or 0) for cell in cells[1:3])
                     for cells in rows(file.read())}
    wrong = [f"{name}: {predicted.get(name, 'missing')} in {path}, {work.get(name, 'nothing')} in "
             "moiety_bench" for name in work | predicted if work.get(name) != predicted.get(name)]
    if wrong or not work:
        sys.exit("\n".join(wrong))
    print(f"{len(work)} benchmarks are described as they are")


def main(bench: str, what: str, *rest: str) -> None:
    if what == "predictions":
        return check_predictions(bench, *rest)
    check_table(bench, what, *(["--benchmark_filter=/relu/"] if what == "cpu" else []))
    refused = subprocess.run([bench, "--device", "abacus"], capture_output=True, text=True)
    if refused.returncode != 2 or "cpu or cuda" not in refused.stderr:
        sys.exit(f"--device abacus: {refused.returncode}, {refused.stderr}")


main(*sys.argv[1:])
