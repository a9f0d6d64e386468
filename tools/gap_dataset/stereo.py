# SPDX-License-Identifier: Apache-2.0
"""Names of stereoisomers: which ones a constitution has, and which one a geometry is."""
import itertools

from rdkit import Chem

from enumeration import hash_order

MAX_ELEMENTS = 6   # stereo elements of a constitution; more than that is left out


def without_stereo(smiles):
    """Canonical SMILES of the constitution; rows that share it must share a part of the split."""
    mol = Chem.MolFromSmiles(smiles)
    Chem.RemoveStereochemistry(mol)
    return Chem.CanonSmiles(Chem.MolToSmiles(mol))


def mirror_image(smiles):
    """Canonical SMILES of the mirror image."""
    mol = Chem.MolFromSmiles(smiles)
    for atom in mol.GetAtoms():
        atom.InvertChirality()
    return Chem.CanonSmiles(Chem.MolToSmiles(mol))


def fully_specified(mol):
    """Whether no stereocentre and no stereogenic double bond is left open.

    RDKit has two perceptions of stereo, and they differ for centres that depend on each other. A
    name has to be complete for both.
    """
    possible = Chem.FindPotentialStereo(Chem.Mol(mol), cleanIt=True)
    centres = Chem.FindMolChiralCenters(mol, includeUnassigned=True,
                                        useLegacyImplementation=True)
    return (all(item.specified == Chem.StereoSpecified.Specified for item in possible)
            and all(label != "?" for _, label in centres))


def valid_name(smiles):
    """Whether the SMILES is canonical, free of explicit hydrogens and fully specified."""
    mol = Chem.MolFromSmiles(smiles)
    if mol is None or "[H]" in smiles or Chem.MolToSmiles(mol) != smiles:
        return False
    return fully_specified(mol)


def _mark(mol, element, choice):
    """Give one stereo element of the molecule one of its two arrangements."""
    if element.type == Chem.StereoType.Bond_Double:
        bond = mol.GetBondWithIdx(element.centeredOn)
        ends = [next(atom for atom in pair if atom < mol.GetNumAtoms())
                for pair in (list(element.controllingAtoms)[:2],
                             list(element.controllingAtoms)[2:])]
        bond.SetStereoAtoms(*ends)
        bond.SetStereo((Chem.BondStereo.STEREOCIS, Chem.BondStereo.STEREOTRANS)[choice])
    else:
        tags = Chem.ChiralType.CHI_TETRAHEDRAL_CW, Chem.ChiralType.CHI_TETRAHEDRAL_CCW
        mol.GetAtomWithIdx(element.centeredOn).SetChiralTag(tags[choice])


def _is_nitrogen_centre(mol, element):
    """A stereocentre at a nitrogen atom: in a three-membered ring or at a bridgehead.

    RDKit counts these, yet can neither embed them on request nor read them from coordinates.
    """
    return (element.type != Chem.StereoType.Bond_Double
            and mol.GetAtomWithIdx(element.centeredOn).GetAtomicNum() == 7)


def isomers(constitution, seed):
    """Stereoisomers of a constitution in a fixed random order, one of each mirror pair.

    Mirror images have the same gap, so the one whose SMILES sorts first stands for both. The
    order is random, since taking the first by name would always prefer E to Z. The result is
    empty where a SMILES cannot say which isomer is meant.
    """
    mol = Chem.MolFromSmiles(constitution)
    elements = list(Chem.FindPotentialStereo(mol))
    if len(elements) > MAX_ELEMENTS or any(_is_nitrogen_centre(mol, e) for e in elements):
        return []
    found = set()
    for choices in itertools.product((0, 1), repeat=len(elements)):
        marked = Chem.Mol(mol)
        for element, choice in zip(elements, choices):
            _mark(marked, element, choice)
        name = Chem.CanonSmiles(Chem.MolToSmiles(marked))
        if valid_name(name):
            found.add(min(name, mirror_image(name)))
    return hash_order(seed, found)


def name_from_geometry(mol, conformer):
    """Isomeric canonical SMILES read from the coordinates alone, without hydrogens."""
    mol = Chem.Mol(mol)
    Chem.AssignStereochemistryFrom3D(mol, conformer, replaceExistingTags=True)
    options = Chem.RemoveHsParameters()
    options.removeDefiningBondStereo = True
    return Chem.CanonSmiles(Chem.MolToSmiles(Chem.RemoveHs(mol, options)))
