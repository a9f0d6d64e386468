#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the shipped files from themselves alone, without the journal they were made from."""
import argparse
import collections
import csv
import lzma
import pathlib

import numpy as np
from rdkit import Chem, RDLogger

import enumeration
import finalise
import optimise
import stereo

SIZE_LIMIT = 3_000_000
MIN_ROWS = 10_000
# Values known from a separate run of the xtb program, in eV.
REFERENCE_GAPS = {"C": 17.35, "c1ccccc1": 4.93}


def read_geometries(path):
    """(comment, symbols, positions) for each molecule of an .xyz.xz file."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        while count := lines.readline():
            comment = lines.readline().rstrip("\n")
            atoms = [lines.readline().split() for _ in range(int(count))]
            yield (comment, [atom[0] for atom in atoms],
                   np.array([atom[1:] for atom in atoms], float))


def check_table(rows):
    """Names, order, ranges and split."""
    names = [row["smiles"] for row in rows]
    assert len(rows) >= MIN_ROWS and len(set(names)) == len(names)
    assert names == sorted(names, key=lambda s: (enumeration.heavy_atoms(s), s))
    assert all(map(stereo.valid_name, names)), "a name is open or not canonical"
    by_name = {row["smiles"]: row for row in rows}
    for name, gap in REFERENCE_GAPS.items():
        assert abs(float(by_name[name]["gap_ev"]) - gap) < 0.02, name
    for row in rows:
        homo, lumo, gap = (float(row[key]) for key in ("homo_ev", "lumo_ev", "gap_ev"))
        assert abs(lumo - homo - gap) < 2e-4 and 0.3 < gap < 20 and homo < -5, row
        assert float(row["energy_hartree"]) < 0 <= float(row["dipole_debye"]) < 20, row
    parts = collections.defaultdict(set)
    for row in rows:
        parts[stereo.without_stereo(row["smiles"])].add(row["split"])
    assert all(len(found) == 1 for found in parts.values()), "a constitution is in two parts"
    finalise.check_named(rows)
    return len(parts)


def check_geometry(row, comment, symbols, positions):
    """The geometry has the graph and the stereo that its row names."""
    smiles = row["smiles"]
    assert comment == (f"{smiles} gap_ev={row['gap_ev']} "
                       f"energy_hartree={row['energy_hartree']}"), comment
    mol = optimise.with_hydrogens(smiles)
    assert symbols == [atom.GetSymbol() for atom in mol.GetAtoms()], smiles
    assert len(symbols) == int(row["num_atoms"]), smiles
    assert optimise.same_graph(mol, positions), smiles
    conformer = Chem.Conformer(mol.GetNumAtoms())
    for index, place in enumerate(positions):
        conformer.SetAtomPosition(index, place.tolist())
    index = mol.AddConformer(conformer, assignId=True)
    assert stereo.name_from_geometry(mol, index) == smiles, smiles


def describe(rows):
    """Prints the figures that the data set's README gives."""
    for key in ("gap_ev", "homo_ev", "lumo_ev", "dipole_debye", "energy_hartree", "num_atoms"):
        values = np.array([float(row[key]) for row in rows])
        print(f"{key}: min {values.min():.3f}  median {np.median(values):.3f}  "
              f"mean {values.mean():.3f}  max {values.max():.3f}  std {values.std():.3f}")
    mols = [Chem.MolFromSmiles(row["smiles"]) for row in rows]
    print("heavy atoms:", sorted(collections.Counter(m.GetNumAtoms() for m in mols).items()))
    elements = collections.Counter(e for m in mols for e in {a.GetSymbol() for a in m.GetAtoms()})
    print("rows with element:", dict(elements))
    print("aromatic:", sum(any(a.GetIsAromatic() for a in m.GetAtoms()) for m in mols),
          " with a ring:", sum(m.GetRingInfo().NumRings() > 0 for m in mols),
          " with stereo:", sum(any(c in row["smiles"] for c in "@/\\") for row in rows))
    print("split:", dict(collections.Counter(row["split"] for row in rows)))


def main():
    """Every check; an assertion says what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path, nargs="?",
                        default=pathlib.Path(__file__).resolve().parents[2] / "data")
    directory = parser.parse_args().directory
    RDLogger.DisableLog("rdApp.*")
    table, geometries = directory / "gap_gfn2.csv", directory / "gap_gfn2.xyz.xz"
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    constitutions = check_table(rows)
    for row, geometry in zip(rows, read_geometries(geometries), strict=True):
        check_geometry(row, *geometry)
    size = table.stat().st_size + geometries.stat().st_size
    assert size < SIZE_LIMIT, size
    describe(rows)
    print(f"{len(rows)} rows, {constitutions} constitutions, {size} bytes: all checks passed")


if __name__ == "__main__":
    main()
