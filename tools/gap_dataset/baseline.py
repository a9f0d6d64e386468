#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Classical baselines for the HOMO-LUMO gap on the split that ships.

A graph network should beat each of these by a clear margin, or it has learned no more than what
fragments and counts tell. Every choice is made on the validation part; the test part is used once
for each of the models, after its choice is made.
"""
import argparse
import csv
import pathlib
import time

import numpy as np
from rdkit import Chem
from rdkit.Chem import AllChem
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

BITS, RADIUS = 2048, 2
SEED = 0


def simple_counts(mol):
    """Atoms of each element, hydrogens, bonds of each type, rings."""
    numbers = [atom.GetAtomicNum() for atom in mol.GetAtoms()]
    kinds = [bond.GetBondType() for bond in mol.GetBonds()]
    types = (Chem.BondType.SINGLE, Chem.BondType.DOUBLE, Chem.BondType.TRIPLE,
             Chem.BondType.AROMATIC)
    return ([numbers.count(number) for number in (6, 7, 8, 9)]
            + [sum(atom.GetTotalNumHs() for atom in mol.GetAtoms())]
            + [kinds.count(kind) for kind in types]
            + [sum(bond.GetIsConjugated() for bond in mol.GetBonds()),
               mol.GetRingInfo().NumRings()])


def morgan_counts(mol):
    """How often each hashed environment of radius 0 .. RADIUS occurs."""
    vector = np.zeros(BITS, np.float32)
    fingerprint = AllChem.GetHashedMorganFingerprint(mol, RADIUS, BITS)
    for index, count in fingerprint.GetNonzeroElements().items():
        vector[index] = count
    return vector


def load(path):
    """(features by name, gaps, parts)."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    mols = [Chem.MolFromSmiles(row["smiles"]) for row in rows]
    counts = np.stack([morgan_counts(mol) for mol in mols])
    features = {"element, bond and ring counts": np.array([simple_counts(m) for m in mols], float),
                "Morgan counts": counts}
    gaps = np.array([float(row["gap_ev"]) for row in rows])
    parts = np.array([row["split"] for row in rows])
    return features, gaps, {name: parts == name for name in ("train", "valid", "test")}


def mae(model, inputs, targets):
    """Mean absolute error in the unit of the targets."""
    return float(np.abs(model.predict(inputs) - targets).mean())


def ridge_models():
    """Candidates for ridge regression."""
    for alpha in (0.01, 0.1, 1.0, 3.0, 10.0, 30.0):
        yield f"alpha {alpha:g}", Ridge(alpha=alpha)


def forest_models(trees, jobs):
    """Candidates for the random forest."""
    for share in (0.1, 0.33):
        for leaf in (1, 3):
            yield f"max_features {share}, min_samples_leaf {leaf}", RandomForestRegressor(
                trees, max_features=share, min_samples_leaf=leaf, random_state=SEED, n_jobs=jobs)


def choose(candidates, inputs, gaps, parts):
    """(validation error, settings, model) of the candidate that does best on validation."""
    best = None
    for settings, model in candidates:
        model.fit(inputs[parts["train"]], gaps[parts["train"]])
        error = mae(model, inputs[parts["valid"]], gaps[parts["valid"]])
        if best is None or error < best[0]:
            best = error, settings, model
    return best


def report(name, settings, valid, test, started):
    """One line of the result."""
    print(f"{name:<46} valid {valid:.3f}  test {test:.3f}  {time.time() - started:5.0f} s  "
          f"{settings}", flush=True)


def main():
    """The mean, ridge regression and the random forest."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table", nargs="?", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2] / "data/gap_gfn2.csv")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    features, gaps, parts = load(arguments.table)
    print("MAE of the gap in eV;", {name: int(part.sum()) for name, part in parts.items()})
    mean = gaps[parts["train"]].mean()
    report("mean of the training part", "", np.abs(gaps[parts["valid"]] - mean).mean(),
           np.abs(gaps[parts["test"]] - mean).mean(), time.time())
    runs = [("ridge", name, ridge_models()) for name in
            ("element, bond and ring counts", "Morgan counts")]
    runs.append(("random forest", "Morgan counts",
                 forest_models(arguments.trees, arguments.jobs)))
    for kind, name, candidates in runs:
        started = time.time()
        valid, settings, model = choose(candidates, features[name], gaps, parts)
        test = mae(model, features[name][parts["test"]], gaps[parts["test"]])
        report(f"{kind}, {name}", settings, valid, test, started)


if __name__ == "__main__":
    main()
