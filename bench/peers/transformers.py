#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of transformers beside PyTorch's, in turn on the same machine: a Markdown table.

Every case runs each side with each number of threads, --rounds times, one after the other; a side's
time is the median over the rounds of its steps' median, at the number of threads that suits it
best. PyTorch runs with what is best for it: the fastest of OpenBLAS's kernels, a malloc that keeps
memory, one pool of threads where OpenBLAS has an OpenMP build, the foreach optimizer, a head that
reads the scored tokens alone (and all of them, with --heads).
"""
import argparse
import csv
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

SIZES = {"mlm": ["--model", "mlm", "--batch", "8", "--length", "128"],
         "gpt": ["--model", "gpt", "--batch", "8", "--length", "256"]}
CASES = {
    "mlm": SIZES["mlm"],
    "mlm dropout": SIZES["mlm"] + ["--dropout", "0.1"],
    "mlm bf16": SIZES["mlm"] + ["--precision", "bf16"],
    "gpt": SIZES["gpt"],
    "gpt dropout": SIZES["gpt"] + ["--dropout", "0.1"],
    "gpt bf16": SIZES["gpt"] + ["--precision", "bf16"],
    "mlm smiles": ["--model", "mlm", "--batch", "64"],
    "mlm smiles dropout": ["--model", "mlm", "--batch", "64", "--dropout", "0.1"],
}
OPENMP_BLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp"
BLAS_KERNELS = ["HASWELL", "ZEN", "SKYLAKEX", "COOPERLAKE", "SAPPHIRERAPIDS"]
PRODUCT = """
import time, torch
a, b = torch.randn(1024, 384), torch.randn(1536, 384)
times = []
for _ in range(40):
    start = time.perf_counter()
    torch.mm(a, b.t())
    times.append(time.perf_counter() - start)
print(sorted(times)[20])
"""
# Atoms, bonds and ring closures (Schwaller et al. 2019).
TOKENS = re.compile(r"\[[^\]]+\]|Br|Cl|%\d\d|.")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="the path of transformer_step")
    parser.add_argument("--cases", nargs="+", choices=CASES, help="all that can run, if absent")
    parser.add_argument("--smiles", help="a CSV file whose SMILES have the lengths of mlm smiles")
    parser.add_argument("--column", default="smiles")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--heads", nargs="+", choices=["scored", "all"], default=["scored"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each run")
    parser.add_argument("--python", default=sys.executable, help="one that has torch")
    parser.add_argument("--json", help="a file to append each run's line to")
    return parser.parse_args()


def write_lengths(path: str, column: str, to: str) -> None:
    """Tokens of each SMILES, with one before and one after it, in random order."""
    with open(path, newline="") as file:
        lengths = [len(TOKENS.findall(row[column])) + 2 for row in csv.DictReader(file)]
    random.Random(0).shuffle(lengths)
    with open(to, "w") as file:
        file.write(" ".join(map(str, lengths)))


def best_for_torch(python: str) -> dict[str, str]:
    """An environment in which PyTorch is as fast as it can be: for a processor that OpenBLAS does
    not know it takes kernels at a quarter of its best speed, so each set of them is tried."""
    keep = {name: value for name, value in os.environ.items()
            if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    keep |= {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)}
    if os.path.isdir(OPENMP_BLAS):
        keep["LD_LIBRARY_PATH"] = OPENMP_BLAS
    choices = [keep] + [keep | {"OPENBLAS_CORETYPE": kernels} for kernels in BLAS_KERNELS]

    def seconds(env: dict[str, str]) -> float:
        done = subprocess.run([python, "-c", PRODUCT], capture_output=True, text=True, env=env)
        if done.returncode != 0:
            sys.exit(f"{python} cannot multiply with torch:\n{done.stderr}")
        return float(done.stdout)

    best = min(choices, key=lambda env: min(seconds(env), seconds(env)))
    print("PyTorch's BLAS kernels:", best.get("OPENBLAS_CORETYPE", "its own choice"),
          file=sys.stderr)
    return best


class Runs:
    """Runs commands and remembers their times by what they are."""

    def __init__(self, log: str | None):
        self.log = log
        self.times: dict[tuple[str, ...], list[float]] = {}
        self.last: dict[str, dict] = {}

    def run(self, key: tuple[str, ...], command: list[str], env: dict[str, str] | None) -> None:
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        line = json.loads(done.stdout)
        self.times.setdefault(key, []).append(line["median_ms"])
        self.last[key[0]] = line
        if self.log:
            with open(self.log, "a") as file:
                file.write(done.stdout)

    def best(self, side: str) -> tuple[float, str]:
        """The least median, and what it was reached with."""
        return min((statistics.median(times), " ".join(key[1:]))
                   for key, times in self.times.items() if key[0] == side)


def measure(name: str, args: argparse.Namespace, lengths: str | None, env: dict[str, str]) -> str:
    flags = CASES[name] + (["--lengths", lengths] if "smiles" in name else [])
    here = os.path.dirname(os.path.abspath(__file__))
    runs = Runs(args.json)
    for _ in range(args.rounds):
        for threads in args.threads:
            more = ["--threads", str(threads), "--seconds", str(args.seconds)]
            runs.run(("ours", f"{threads}"), [args.program, *flags, *more], None)
            for head in args.heads if "mlm" in name else ["all"]:
                runs.run(("torch", f"{threads}", head),
                         [args.python, os.path.join(here, "torch_transformers.py"), *flags, *more,
                          "--head", head], env)
    (ours, with_ours), (theirs, with_theirs) = runs.best("ours"), runs.best("torch")
    floor = runs.last["ours"]["floor_ms"]
    return (f"| {name} | {ours:.0f} ({with_ours}) | {floor:.0f} | {theirs:.0f} ({with_theirs}) | "
            f"{theirs / ours:.2f} |")


def main() -> None:
    args = arguments()
    names = args.cases or [name for name in CASES
                           if "bf16" not in name and ("smiles" not in name or args.smiles)]
    env = best_for_torch(args.python)
    print("| case | Moiety, ms (threads) | its products alone, ms | PyTorch, ms (threads, head) | "
          "PyTorch / Moiety |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        lengths = None
        if any("smiles" in name for name in names):
            if not args.smiles:
                sys.exit("mlm smiles needs --smiles, a CSV file")
            lengths = os.path.join(folder, "lengths.txt")
            write_lengths(args.smiles, args.column, lengths)
        for name in names:
            print(measure(name, args, lengths, env), flush=True)


main()
