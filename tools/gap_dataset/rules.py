# SPDX-License-Identifier: Apache-2.0
"""What counts as a molecule of this data set.

Two kinds of rule are kept apart. *Hereditary* rules hold for every part of an accepted molecule,
so the enumeration may drop an intermediate that breaks one without losing anything that can be
reached from it. All other rules depend on hydrogens or on rings that a later step may add, and
are asked of finished molecules only.
"""
from rdkit import Chem

# symbol, atomic number, valence
ELEMENTS = (("C", 6, 4), ("N", 7, 3), ("O", 8, 2), ("F", 9, 1))
MAX_HETEROATOMS = 3
MAX_RING_SIZE = 7
# O-O, N-F, O-F and F-F bonds: reactive, and of little interest at this level of theory.
FORBIDDEN_BONDS = frozenset({(8, 8), (7, 9), (8, 9), (9, 9)})


def _patterns(*smarts):
    return [Chem.MolFromSmarts(text) for text in smarts]


# Written by atomic number, since an atom that is aliphatic now may become aromatic later.
HEREDITARY = _patterns(
    "[#7,#8]~[#7,#8]~[#7,#8]",          # three heteroatoms in a row
    "*=*=*",                            # cumulenes, ketenes, isocyanates
    "C#C[#7,#8,F]",                     # ynols, ynamines and fluoroalkynes
    "[#7,#8]C#N",                       # cyanates and cyanamides
    "[#8]([#6]=O)[#6]=O",               # anhydrides
    "O=[#6][#6](=O)F",                  # alpha-oxo acyl fluorides
    "O=[#6][#6](=O)[#6]=O",             # vicinal tricarbonyls
    "[*;R]#[*]",                        # triple bonds in rings
)
UNSTABLE = _patterns(
    "N=N", "O=N",                               # diazenes, nitroso compounds
    "C(F)[OH,NH,NH2]",                          # would lose HF
    "[CX4]([OH])[OH]", "[CX4]([OH])[NH,NH2]",   # geminal diols and hemiaminals
    "[CX4]([NH2])[NH2]",
    "C=C[OH]", "C=C[NH2]",                      # enols and primary enamines
    "[CH2]=N", "N=C[OH]", "N=CF",               # the less stable side of a tautomer pair
    "[OH]C(=O)[O,N]",                           # carbonic and carbamic acids
    "[r3]=*", "[r4]=[r4]",                      # strained double bonds
    "[O,N;r3][O,N;r3]", "[O,N;r4][O,N;r4]",     # rings that would open at the weak bond
)
_NH_IMINE = Chem.MolFromSmarts("[#6X3]=[NX2H1]")
_AROMATIC = Chem.MolFromSmarts("a")


def bond_allowed(first, second):
    """Whether atoms of these two atomic numbers may be bonded at all."""
    return (min(first, second), max(first, second)) not in FORBIDDEN_BONDS


def count_heteroatoms(mol):
    """Atoms that are neither carbon nor hydrogen."""
    return sum(atom.GetAtomicNum() != 6 for atom in mol.GetAtoms())


def is_aromatic(mol):
    """Whether RDKit's default model sees an aromatic atom."""
    return mol.HasSubstructMatch(_AROMATIC)


def hereditary_ok(mol):
    """Rules that hold for every part of an accepted molecule."""
    return not any(mol.HasSubstructMatch(pattern) for pattern in HEREDITARY)


def accepted(mol):
    """All rules, for a finished molecule."""
    if not _composition_ok(mol) or not hereditary_ok(mol):
        return False
    if any(mol.HasSubstructMatch(pattern) for pattern in UNSTABLE):
        return False
    if not all(bond_allowed(bond.GetBeginAtom().GetAtomicNum(), bond.GetEndAtom().GetAtomicNum())
               for bond in mol.GetBonds()):
        return False
    return _imines_ok(mol) and _rings_ok(mol)


def _composition_ok(mol):
    hetero = count_heteroatoms(mol)
    carbon = mol.GetNumAtoms() - hetero
    if hetero > MAX_HETEROATOMS:
        return False
    return mol.GetNumAtoms() <= 2 or carbon > 0


def _imines_ok(mol):
    """Reject C=N-H when the two other groups on the carbon differ.

    Such an imine has an E and a Z form that only a SMILES with an explicit hydrogen atom could
    tell apart, and the data set has no explicit hydrogens.
    """
    ranks = list(Chem.CanonicalRankAtoms(mol, breakTies=False))
    for carbon, nitrogen in mol.GetSubstructMatches(_NH_IMINE):
        groups = [ranks[atom.GetIdx()] for atom in mol.GetAtomWithIdx(carbon).GetNeighbors()
                  if atom.GetIdx() != nitrogen]
        if len(groups) != 2 or groups[0] != groups[1]:
            return False
    return True


def _has_multiple_bond(atom):
    return any(bond.GetBondType() != Chem.BondType.SINGLE for bond in atom.GetBonds())


def _rings_ok(mol):
    info = mol.GetRingInfo()
    rings = [set(ring) for ring in info.AtomRings()]
    if any(len(ring) > MAX_RING_SIZE for ring in rings):
        return False
    if any(len(ring) < 5 and all(mol.GetAtomWithIdx(i).GetIsAromatic() for i in ring)
           for ring in rings):
        return False  # aromatic to RDKit's model only
    for index, first in enumerate(rings):
        for second in rings[:index]:
            if not _ring_pair_ok(mol, info, first, second):
                return False
    for atom in mol.GetAtoms():  # no multiple bond where a small ring is fused
        index = atom.GetIdx()
        if (info.NumAtomRings(index) > 1 and info.MinAtomRingSize(index) < 5
                and _has_multiple_bond(atom)):
            return False
    return True


def _ring_pair_ok(mol, info, first, second):
    """No two fused tiny rings, no tiny bridges, no multiple bond at a bridgehead."""
    shared = first & second
    small, large = sorted((len(first), len(second)))
    if len(shared) > 1 and small == 3 and large < 5:
        return False
    if len(shared) <= 2:
        return True
    if small < 5:
        return False
    bridgeheads = (mol.GetAtomWithIdx(i) for i in shared if info.NumAtomRings(i) > 1)
    return not any(a.GetDegree() > 2 and _has_multiple_bond(a) for a in bridgeheads)
