#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/ogb_features.json: graphs of diverse molecules with the features of Open
Graph Benchmark 1.3.6 (ogb/utils/features.py), computed with RDKit's Python interface.

    python3 tests/reference/ogb_features.py > tests/golden/ogb_features.json
"""
import json

from rdkit import Chem

SMILES = """
Cl[C@H](/C=C/C)Br
C
O
[H][H]
[HH]
*CC
[13CH4]
CC(=O)Oc1ccccc1C(=O)O
CN1C=NC2=C1C(=O)N(C(=O)N2C)C
C[C@@H](N)C(=O)O
F/C=C\\F
N/C=C/C#N
O=C=O
C#N
[C-]#[O+]
[NH4+].[Cl-]
[Na+].CC(=O)[O-]
FS(F)(F)(F)(F)F
F[P](F)(F)(F)F
CS(=O)(=O)N
[CH3]
C[CH]C
[O][O]
c1ccc2c(c1)[nH]c1ccccc12
c1ccsc1
C1CC1C2CCC2
[Fe+2]
C->[Cu]
C[Si](C)(C)C#C
OB(O)c1ccccc1
[U+6]
[Og]
I(=O)(=O)O
CC1=CC(=O)C=CC1=O
[H]OC([H])([H])C([H])([H])[H]
O=[N+]([O-])c1ccc(cc1)N=Nc1ccccc1
C[N+](C)(C)CC([O-])=O
C/C(=N\\O)c1ccccn1
[C@](F)(Cl)(Br)I
OC[C@H]1O[C@@H](O)[C@H](O)[C@@H](O)[C@@H]1O
Br[Pt](Br)(N)N
C~C
""".split()

CHIRALITY = ["CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER", "misc"]
HYBRIDISATION = ["SP", "SP2", "SP3", "SP3D", "SP3D2", "misc"]
BOND_TYPE = ["SINGLE", "DOUBLE", "TRIPLE", "AROMATIC", "misc"]
BOND_STEREO = ["STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY"]


def index(values, value):
    """The place of the value; the last one for a value that is not listed."""
    return values.index(value) if value in values else len(values) - 1


def numbers(first, last):
    return list(range(first, last + 1)) + ["misc"]


def atom_features(atom):
    return [
        index(numbers(1, 118), atom.GetAtomicNum()),
        index(CHIRALITY, str(atom.GetChiralTag())),
        index(numbers(0, 10), atom.GetTotalDegree()),
        index(numbers(-5, 5), atom.GetFormalCharge()),
        index(numbers(0, 8), atom.GetTotalNumHs()),
        index(numbers(0, 4), atom.GetNumRadicalElectrons()),
        index(HYBRIDISATION, str(atom.GetHybridization())),
        int(atom.GetIsAromatic()),
        int(atom.IsInRing()),
    ]


def bond_features(bond):
    return [
        index(BOND_TYPE, str(bond.GetBondType())),
        index(BOND_STEREO, str(bond.GetStereo())),
        int(bond.GetIsConjugated()),
    ]


def graph(smiles):
    """Atoms [N][9]; edges [E][dst, src, 3 features], each bond twice, ascending."""
    mol = Chem.MolFromSmiles(smiles)
    edges = []
    for bond in mol.GetBonds():
        ends = [bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]
        edges += [ends + bond_features(bond), ends[::-1] + bond_features(bond)]
    return {
        "smiles": smiles,
        "z": [atom.GetAtomicNum() for atom in mol.GetAtoms()],
        "atoms": [atom_features(atom) for atom in mol.GetAtoms()],
        "edges": sorted(edges),
    }


print("[\n" + ",\n".join(json.dumps(graph(s), separators=(",", ":")) for s in SMILES) + "\n]")
