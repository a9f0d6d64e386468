# SPDX-License-Identifier: Apache-2.0
"""Computes the work list on several processes and appends what it finds to a journal.

The journal has one JSON line per constitution, so a run that was cut short goes on where it
stopped. It also outlives a worker: libxtb may end the process it runs in, and then only the
molecule at hand is lost.
"""
import json
import multiprocessing as mp
import os
import time
from multiprocessing.connection import wait

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import rdMolDescriptors
from rdkit.Geometry import Point3D

import optimise
import stereo
import xtb

BLOCK = 1000   # the list is worked off in blocks of this many, each sorted by formula
CHUNK = 25     # constitutions handed to a worker at a time
MAX_TRIES = 4  # isomers tried where the first ones cannot be made


def compute_isomer(calculator, smiles):
    """One row as a dictionary, or optimise.Failure / xtb.XtbError."""
    mol, conformer = optimise.embed(smiles)
    numbers = [atom.GetAtomicNum() for atom in mol.GetAtoms()]
    positions = mol.GetConformer(conformer).GetPositions().ravel() / xtb.BOHR
    calculator.start(numbers, positions)
    hessian = optimise.mmff_hessian(mol, conformer, positions)
    positions, energy = optimise.minimise(calculator, positions, hessian)
    positions = positions.reshape(-1, 3) * xtb.BOHR
    if not optimise.same_graph(mol, positions):
        raise optimise.Failure("rearranged")
    for index, place in enumerate(positions):
        mol.GetConformer(conformer).SetAtomPosition(index, Point3D(*map(float, place)))
    if stereo.name_from_geometry(mol, conformer) != smiles:
        raise optimise.Failure("other-isomer")
    homo, lumo = calculator.frontier_orbitals()
    return {"smiles": smiles, "homo_ev": homo, "lumo_ev": lumo, "gap_ev": lumo - homo,
            "dipole_debye": calculator.dipole(), "energy_hartree": energy, "numbers": numbers,
            "positions": np.round(positions - positions.mean(axis=0), 4).tolist()}


def compute_constitution(calculator, smiles, seed, wanted):
    """The journal entry of a constitution: up to `wanted` isomers, and why others failed."""
    entry = {"constitution": smiles, "rows": [], "failed": {}}
    isomers = stereo.isomers(smiles, seed)
    if not isomers:
        entry["failed"][smiles] = "no-valid-name"
    for name in isomers[:MAX_TRIES]:
        try:
            entry["rows"].append(compute_isomer(calculator, name))
        except optimise.Failure as failure:
            entry["failed"][name] = str(failure)
        except xtb.XtbError:
            entry["failed"][name] = "scf"
        if len(entry["rows"]) == wanted:
            break
    return entry


def _worker(pipe, seed, isomer_limit):
    RDLogger.DisableLog("rdApp.*")
    calculator = xtb.Calculator()
    while (chunk := pipe.recv()) is not None:
        for smiles in chunk:
            pipe.send(compute_constitution(calculator, smiles, seed, isomer_limit(smiles)))


class _Process:
    """A worker and the part of its chunk that has not come back yet."""

    def __init__(self, seed, isomer_limit):
        self.pipe, other = mp.Pipe()
        self.todo = []
        process = mp.Process(target=_worker, args=(other, seed, isomer_limit), daemon=True)
        process.start()
        other.close()

    def give(self, chunk):
        self.todo = list(chunk)
        self.pipe.send(self.todo)


def read_journal(path):
    """Entries by constitution; a last line cut short is left out."""
    entries = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n"):
                    entry = json.loads(line)
                    entries[entry["constitution"]] = entry
    return entries


def _drop_partial_line(path):
    if os.path.exists(path):
        with open(path, "rb+") as file:
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)


def _chunks(work_list, done):
    for start in range(0, len(work_list), BLOCK):
        block = [s for s in work_list[start:start + BLOCK] if s not in done]
        block.sort(key=lambda s: (rdMolDescriptors.CalcMolFormula(Chem.MolFromSmiles(s)), s))
        yield from (block[i:i + CHUNK] for i in range(0, len(block), CHUNK))


def run(work_list, journal, seed, processes, rows, isomer_limit, log=print):
    """Work the list off in order until `rows` rows are there or the list ends."""
    _drop_partial_line(journal)
    known = read_journal(journal)
    done = {smiles: known[smiles] for smiles in work_list if smiles in known}
    count = sum(len(entry["rows"]) for entry in done.values())
    finished, started = len(done), time.time()
    queue = list(_chunks(work_list, done))[::-1]
    workers = [_Process(seed, isomer_limit) for _ in range(processes)]
    with open(journal, "a", encoding="utf-8") as out:
        while True:
            for worker in workers:
                # A block is done out of order inside, so one block more than needed is done.
                if not worker.todo and queue and count < rows + BLOCK:
                    worker.give(queue.pop())
            busy = {worker.pipe: worker for worker in workers if worker.todo}
            if not busy:
                break
            for pipe in wait(list(busy)):
                worker = busy[pipe]
                try:
                    entry = pipe.recv()
                except EOFError:
                    entry = {"constitution": worker.todo[0], "rows": [],
                             "failed": {worker.todo[0]: "crash"}}
                    queue.append(worker.todo[1:])
                    workers[workers.index(worker)] = _Process(seed, isomer_limit)
                worker.todo = worker.todo[1:]
                out.write(json.dumps(entry) + "\n")
                out.flush()
                count += len(entry["rows"])
                finished += 1
                if finished % 200 == 0:
                    log(f"{finished} of {len(work_list)} constitutions, {count} rows, "
                        f"{time.time() - started:.0f} s")
    for worker in workers:
        worker.pipe.send(None)
