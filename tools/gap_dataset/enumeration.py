# SPDX-License-Identifier: Apache-2.0
"""Enumerates constitutions (SMILES without stereo) and orders them into a work list.

A tree of n atoms is a tree of n - 1 atoms plus one atom on a single, double or triple bond. A
molecule with r rings is one with r - 1 rings plus one single bond between two atoms that both
carry a hydrogen. Every tree has a leaf, and every ring accepted here has a single bond to cut, so
nothing is missed as long as only hereditary rules are applied on the way.
"""
import hashlib

from rdkit import Chem, RDLogger

import rules

RDLogger.DisableLog("rdApp.*")

BOND_TYPES = {1: Chem.BondType.SINGLE, 2: Chem.BondType.DOUBLE, 3: Chem.BondType.TRIPLE}
MAX_RINGS = 2


def hash_order(key, items):
    """The items in a random order that depends on the key and on the strings alone.

    Sorting by a hash needs no random generator, whose stream might change between versions, and
    adding an item leaves the order of the others as it was. Draws that build on each other need
    different keys: what comes first in one order comes first again under the same key.
    """
    def digest(text):
        return hashlib.sha256(f"{key} {text}".encode()).digest()
    return sorted(items, key=digest)


def sample(key, items, count):
    """`count` of the items, or all of them where there are fewer."""
    return hash_order(key, items)[:count]


def heavy_atoms(smiles):
    """Number of atoms that are not hydrogen."""
    return Chem.MolFromSmiles(smiles).GetNumAtoms()


def _kekulised(smiles):
    mol = Chem.MolFromSmiles(smiles)
    Chem.Kekulize(mol, clearAromaticFlags=True)
    return mol


def _let_hydrogens_adapt(editable, index):
    atom = editable.GetAtomWithIdx(index)
    atom.SetNoImplicit(False)
    atom.SetNumExplicitHs(0)


def _finish(editable):
    """Canonical SMILES of an edited molecule; None if it breaks valence or a hereditary rule."""
    mol = editable.GetMol()
    try:
        Chem.SanitizeMol(mol)
    except (ValueError, RuntimeError):
        return None
    return Chem.MolToSmiles(mol) if rules.hereditary_ok(mol) else None


def add_atom(smiles):
    """All molecules with one more atom, as a set of SMILES."""
    mol = _kekulised(smiles)
    only_carbon = rules.count_heteroatoms(mol) >= rules.MAX_HETEROATOMS
    found = set()
    for atom in mol.GetAtoms():
        free, number, index = atom.GetTotalNumHs(), atom.GetAtomicNum(), atom.GetIdx()
        for _, new_number, valence in rules.ELEMENTS:
            if new_number != 6 and only_carbon or not rules.bond_allowed(number, new_number):
                continue
            # N=N and N=O groups are not built; aromatic N-N bonds arise from ring closure.
            highest = 1 if number in (7, 8) and new_number in (7, 8) else min(free, valence, 3)
            for order in range(1, min(free, highest) + 1):
                editable = Chem.RWMol(mol)
                new_index = editable.AddAtom(Chem.Atom(new_number))
                editable.AddBond(index, new_index, BOND_TYPES[order])
                _let_hydrogens_adapt(editable, index)
                found.add(_finish(editable))
    return found - {None}


def close_ring(smiles):
    """All molecules with one more ring, as a set of SMILES."""
    mol = _kekulised(smiles)
    distance = Chem.GetDistanceMatrix(mol)
    open_atoms = [atom for atom in mol.GetAtoms() if atom.GetTotalNumHs() > 0]
    found = set()
    for position, first in enumerate(open_atoms):
        for second in open_atoms[position + 1:]:
            ends = first.GetIdx(), second.GetIdx()
            if not 2 <= distance[ends] < rules.MAX_RING_SIZE:
                continue
            if not rules.bond_allowed(first.GetAtomicNum(), second.GetAtomicNum()):
                continue
            editable = Chem.RWMol(mol)
            editable.AddBond(*ends, Chem.BondType.SINGLE)
            for end in ends:
                _let_hydrogens_adapt(editable, end)
            found.add(_finish(editable))
    return found - {None}


def accepted_name(smiles):
    """The canonical SMILES where the molecule passes every rule and survives a round trip."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None or not rules.accepted(mol):
        return None
    name = Chem.MolToSmiles(mol)
    return name if Chem.CanonSmiles(name) == name else None


class Enumerator:
    """Runs the steps above over whole sets, spread over the processes of a pool."""

    def __init__(self, pool, log=print):
        self.pool = pool
        self.log = log

    def _union(self, function, smiles):
        found = set()
        for part in self.pool.imap_unordered(function, sorted(smiles), chunksize=200):
            found |= part
        return found

    def _accept(self, smiles):
        names = self.pool.imap_unordered(accepted_name, sorted(smiles), chunksize=500)
        return {name for name in names if name}

    def grow(self, smiles):
        """One more atom on every molecule of a set."""
        return self._union(add_atom, smiles)

    def rings(self, trees, seed=None, limit=None):
        """Accepted molecules made from the trees by closing 0 .. MAX_RINGS rings."""
        layer, result = set(trees), set()
        for count in range(MAX_RINGS + 1):
            if count:
                layer = self._union(close_ring, layer)
            if limit:
                layer = set(sample(f"{seed} rings", layer, limit))
            result |= self._accept(layer)
        return result

    def by_size(self, seed, full, largest, tree_limit):
        """{heavy atoms: constitutions}: complete up to `full`, sampled up to `largest`."""
        trees, sizes = {symbol for symbol, _, _ in rules.ELEMENTS}, {}
        for size in range(1, largest + 1):
            if size > 1:
                trees = self.grow(trees)
            limit = None
            if size > full:
                limit = tree_limit
                trees = set(sample(f"{seed} trees", trees, limit))
            sizes[size] = self.rings(trees, seed, limit)
            self.log(f"{size} heavy atoms: {len(trees)} trees, {len(sizes[size])} accepted")
        return sizes

    def aromatics(self, seed, sizes, full, largest, limit):
        """Aromatic constitutions: all up to `full`; above it grown from the smaller ones."""
        result = {size: {s for s in sizes[size] if rules.is_aromatic(Chem.MolFromSmiles(s))}
                  for size in range(1, full + 1)}
        for size in range(full + 1, largest + 1):
            grown = self.grow(sample(f"{seed} grow", result[size - 1], limit))
            fused = self._union(close_ring, sample(f"{seed} fuse", grown, limit))
            result[size] = {s for s in self._accept(grown | fused)
                            if rules.is_aromatic(Chem.MolFromSmiles(s))}
        for size, names in result.items():
            self.log(f"{size} heavy atoms: {len(names)} aromatic")
        return result
