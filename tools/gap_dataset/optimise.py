# SPDX-License-Identifier: Apache-2.0
"""From a SMILES to a GFN2-xTB minimum: embed, pre-optimise with MMFF94, then quasi-Newton."""
import numpy as np
from rdkit import Chem
from rdkit.Chem import AllChem
from rdkit.Chem import rdMolDescriptors

from xtb import BOHR

KCAL = 627.50947406   # kcal/mol per hartree
COVALENT_RADIUS = {1: 0.31, 6: 0.76, 7: 0.71, 8: 0.66, 9: 0.57}
EMBED_SEED = 42
EMBED_ATTEMPTS = 30
CONFORMERS = 4
GRADIENT_LIMIT = 1e-3   # hartree/bohr, norm; with the next, xtb's "normal" level
ENERGY_LIMIT = 5e-6     # hartree
MAX_STEPS = 120


class Failure(Exception):
    """The molecule cannot be used; the text says why in one word."""


def with_hydrogens(smiles):
    """The molecule with hydrogens, in the atom order of the coordinates that ship.

    Atoms are sorted by element, so that isomers share a list of elements and with it the xTB
    parameters.
    """
    mol = Chem.AddHs(Chem.MolFromSmiles(smiles))
    order = sorted(range(mol.GetNumAtoms()),
                   key=lambda i: (-mol.GetAtomWithIdx(i).GetAtomicNum(), i))
    mol = Chem.RenumberAtoms(mol, order)
    Chem.SanitizeMol(mol)
    return mol


def embed(smiles):
    """(molecule with hydrogens, id of its best MMFF94 conformer)."""
    mol = with_hydrogens(smiles)
    if not AllChem.MMFFHasAllMoleculeParams(mol):
        raise Failure("no-mmff-parameters")
    rigid = (rdMolDescriptors.CalcNumRotatableBonds(mol) == 0
             and mol.GetRingInfo().NumRings() == 0)
    conformers = list(AllChem.EmbedMultipleConfs(
        mol, 1 if rigid else CONFORMERS, randomSeed=EMBED_SEED, maxAttempts=EMBED_ATTEMPTS))
    if not conformers:
        raise Failure("not-embedded")
    energies = [energy for _, energy in AllChem.MMFFOptimizeMoleculeConfs(mol, maxIters=500)]
    return mol, conformers[int(np.argmin(energies))]


def mmff_hessian(mol, conformer, positions):
    """MMFF94 second derivatives in hartree/bohr^2, made positive definite."""
    field = AllChem.MMFFGetMoleculeForceField(
        mol, AllChem.MMFFGetMoleculeProperties(mol), confId=conformer)
    point, step = list(positions * BOHR), 1e-3
    hessian = np.zeros((len(point), len(point)))
    for i, centre in enumerate(positions * BOHR):
        point[i] = centre + step
        above = np.array(field.CalcGrad(point))
        point[i] = centre - step
        below = np.array(field.CalcGrad(point))
        point[i] = centre
        hessian[i] = (above - below) / (2 * step)
    hessian = 0.5 * (hessian + hessian.T) / KCAL * BOHR ** 2
    values, vectors = np.linalg.eigh(hessian)
    return (vectors * np.maximum(np.abs(values), 0.002)) @ vectors.T


def _updated(hessian, step, change):
    """BFGS update with Powell's damping, which keeps the matrix positive definite."""
    product = hessian @ step
    curvature, measured = step @ product, step @ change
    if measured < 0.2 * curvature:
        weight = 0.8 * curvature / (curvature - measured)
        change = weight * change + (1 - weight) * product
        measured = step @ change
    return (hessian - np.outer(product, product) / curvature
            + np.outer(change, change) / measured)


def minimise(calculator, positions, hessian, trust=0.2):
    """Positions and energy of the minimum; the calculator is left at that point.

    A quasi-Newton step in Cartesian coordinates is cut where an atom would move further than the
    trust radius, which follows how well the quadratic model foretold the last energy.
    """
    energy, gradient = calculator.energy_and_gradient(positions)
    for _ in range(MAX_STEPS):
        values, vectors = np.linalg.eigh(hessian)
        step = -vectors @ ((vectors.T @ gradient) / np.maximum(values, 1e-3))
        length = np.abs(step).max()
        if length > trust:
            step *= trust / length
        new_energy, new_gradient = calculator.energy_and_gradient(positions + step)
        foretold = step @ gradient + 0.5 * step @ hessian @ step
        hessian = _updated(hessian, step, new_gradient - gradient)
        if new_energy > energy + 2e-6:
            trust = max(0.3 * min(length, trust), 2e-3)
            continue
        gain = energy - new_energy
        positions, energy, gradient = positions + step, new_energy, new_gradient
        if -gain / foretold > 0.75:
            trust = min(0.6, trust * 1.6)
        if np.linalg.norm(gradient) < GRADIENT_LIMIT and gain < ENERGY_LIMIT:
            return positions, energy
    raise Failure("not-converged")


def same_graph(mol, positions):
    """Whether distances (angstrom) show exactly the bonds of the molecule.

    The gap between the two limits leaves room for strained bonds and close contacts; a distance
    within it is accepted for either.
    """
    numbers = [atom.GetAtomicNum() for atom in mol.GetAtoms()]
    for i, first in enumerate(numbers):
        for j, second in enumerate(numbers[:i]):
            ratio = (np.linalg.norm(positions[i] - positions[j])
                     / (COVALENT_RADIUS[first] + COVALENT_RADIUS[second]))
            bonded = mol.GetBondBetweenAtoms(i, j) is not None
            if bonded and ratio > 1.35 or not bonded and ratio < 1.2:
                return False
    return True
