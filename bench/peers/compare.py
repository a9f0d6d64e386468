#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins a table of moiety_bench with PyTorch's times and the predictions, by the rows' names.

compare.py BENCH.md TORCH.md PREDICTIONS.md OUT.md

TORCH.md may be missing. Where several places have a row, each is kept.
"""
import os
import sys


def rows(path: str) -> list[list[str]]:
    if not os.path.exists(path):
        return []
    with open(path) as file:
        cut = [[cell.strip() for cell in line.strip().strip("|").split("|")]
               for line in file if line.startswith("| ")]
    # A program that was stopped may have left half a row.
    return [cells for cells in cut if cells[0].count("/") == 3 and len(cells) == len(cut[0])]


def main(bench: str, torch: str, predictions: str, out: str) -> None:
    with open(bench) as file:
        head = [line for line in file if not line.startswith("|")]
    micros = {cells[0]: cells[1] for cells in rows(torch)}
    expected = {cells[0]: cells[4] for cells in rows(predictions)}
    faster = slower = 0
    with open(out, "w") as file:
        file.writelines(head)
        if os.path.exists(torch):
            with open(torch) as other:
                file.write(other.readline() + "\n")
        file.write("| kernel/shape/dtype | place | microseconds | GB/s | GFLOP/s | of the limit | "
                   "expected | PyTorch, microseconds | PyTorch / Moiety |\n" + "|---" * 9 + "|\n")
        for cells in rows(bench):
            name, own = cells[0], cells[2]
            peer = micros.get(name, "")
            ratio = ""
            if peer and not own.startswith("failed"):
                times = float(peer) / float(own)
                ratio = f"{times:.2f}"
                faster += times >= 1
                slower += times < 1
            file.write("| " + " | ".join(cells + [expected.get(name, ""), peer, ratio]) + " |\n")
    if not rows(bench):
        sys.exit(f"{bench} has no rows")
    print(f"{len(rows(bench))} rows, PyTorch is slower in {faster} and faster in {slower}")


main(*sys.argv[1:])
