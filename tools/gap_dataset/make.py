#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes data/gap_gfn2.csv and data/gap_gfn2.xyz.xz: enumerate, compute, finalise.

Each step leaves a file in the working directory and is skipped where that file is there, so the
same command goes on with a run that was stopped.
"""
import argparse
import multiprocessing
import os
import pathlib
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"   # one thread per process; has to be set before numpy is imported

import compute     # noqa: E402
import finalise    # noqa: E402
import worklist    # noqa: E402

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("gap_work"),
                        help="directory for the work list and the journal")
    parser.add_argument("--out", type=pathlib.Path, default=DATA, help="where the data set goes")
    parser.add_argument("--rows", type=int, default=12500, help="rows of the data set")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1,
                        help="decides the sample, the choice of stereoisomers and the split")
    parser.add_argument("--finalise-only", action="store_true",
                        help="write the data set from what the journal has")
    return parser.parse_args()


def log(text):
    """A line with the time of day."""
    print(time.strftime("%H:%M:%S"), text, flush=True)


def enumerate_constitutions(arguments):
    """The work list, from its file or made anew."""
    path = arguments.work / "worklist.smi"
    if not path.exists():
        with multiprocessing.Pool(arguments.processes) as pool:
            names = worklist.build(pool, arguments.seed, log)
        partial = path.with_suffix(".partial")
        partial.write_text("\n".join(names) + "\n", encoding="utf-8")
        partial.rename(path)
    return path.read_text(encoding="utf-8").split()


def main():
    """All steps."""
    arguments = parse_arguments()
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    journal = arguments.work / "journal.jsonl"
    work_list = enumerate_constitutions(arguments)
    if not arguments.finalise_only:
        compute.run(work_list, journal, arguments.seed, arguments.processes, arguments.rows,
                    worklist.isomer_limit, log)
    finalise.write(work_list, compute.read_journal(journal), arguments.out, arguments.rows,
                   arguments.seed, log)


if __name__ == "__main__":
    main()
