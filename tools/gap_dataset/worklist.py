# SPDX-License-Identifier: Apache-2.0
"""Which constitutions are computed, and in which order."""
import enumeration

FULL_SIZE = 6            # everything up to this many heavy atoms is in
AROMATIC_FULL_SIZE = 7   # every aromatic molecule up to this many
LARGEST_SIZE = 9
BOTH_ISOMERS_SIZE = 5    # two stereoisomers of a constitution up to this size, else one
TREE_LIMIT = 8000        # acyclic skeletons followed where a size is sampled
# Taken at random: heavy atoms -> (not aromatic, aromatic).
QUOTA = {7: (3400, 0), 8: (2700, 2300), 9: (1300, 1400)}

# Molecules a reader would look for first; the finished table is checked to have each.
NAMED = {
    "methane": "C", "ammonia": "N", "water": "O", "methanol": "CO",
    "formaldehyde": "C=O", "ethylene": "C=C", "acetylene": "C#C",
    "hydrogen cyanide": "C#N", "acetone": "CC(C)=O", "acetic acid": "CC(=O)O",
    "acetamide": "CC(N)=O", "acetonitrile": "CC#N", "glycine": "NCC(=O)O", "urea": "NC(N)=O",
    "butadiene": "C=CC=C", "cyclohexane": "C1CCCCC1", "tetrahydrofuran": "C1CCOC1",
    "pyrrolidine": "C1CCNC1", "piperidine": "C1CCNCC1", "morpholine": "C1COCCN1",
    "benzene": "c1ccccc1", "pyridine": "c1ccncc1", "pyridazine": "c1ccnnc1",
    "pyrimidine": "c1cncnc1", "pyrazine": "c1cnccn1", "1,3,5-triazine": "c1ncncn1",
    "pyrrole": "c1cc[nH]c1", "furan": "c1ccoc1", "imidazole": "c1c[nH]cn1",
    "pyrazole": "c1cn[nH]c1", "oxazole": "c1cocn1", "isoxazole": "c1cnoc1",
    "1,2,4-triazole": "c1nc[nH]n1", "1,3,4-oxadiazole": "c1nnco1",
    "toluene": "Cc1ccccc1", "phenol": "Oc1ccccc1", "aniline": "Nc1ccccc1",
    "fluorobenzene": "Fc1ccccc1", "2-picoline": "Cc1ccccn1", "3-picoline": "Cc1cccnc1",
    "4-picoline": "Cc1ccncc1", "2-pyridone": "O=c1cccc[nH]1", "2-methylfuran": "Cc1ccco1",
    "benzonitrile": "N#Cc1ccccc1", "benzaldehyde": "O=Cc1ccccc1", "styrene": "C=Cc1ccccc1",
    "phenylacetylene": "C#Cc1ccccc1", "anisole": "COc1ccccc1", "benzyl alcohol": "OCc1ccccc1",
    "benzylamine": "NCc1ccccc1", "ethylbenzene": "CCc1ccccc1", "o-xylene": "Cc1ccccc1C",
    "m-xylene": "Cc1cccc(C)c1", "p-xylene": "Cc1ccc(C)cc1", "catechol": "Oc1ccccc1O",
    "hydroquinone": "Oc1ccc(O)cc1", "tropone": "O=c1cccccc1", "furfural": "O=Cc1ccco1",
    "benzoic acid": "O=C(O)c1ccccc1", "benzamide": "NC(=O)c1ccccc1",
    "acetophenone": "CC(=O)c1ccccc1", "indole": "c1ccc2[nH]ccc2c1",
    "benzofuran": "c1ccc2occc2c1", "benzimidazole": "c1ccc2[nH]cnc2c1",
    "norbornane": "C1CC2CCC1C2",
}


def isomer_limit(smiles):
    """How many stereoisomers of a constitution are wanted."""
    return 2 if enumeration.heavy_atoms(smiles) <= BOTH_ISOMERS_SIZE else 1


def build(pool, seed, log=print):
    """The constitutions in working order.

    The complete part comes first. What follows is sampled and shuffled, so that the list may be
    cut anywhere after the complete part and leaves a set with the same make-up.
    """
    run = enumeration.Enumerator(pool, log)
    plain = run.by_size(seed, AROMATIC_FULL_SIZE, LARGEST_SIZE, TREE_LIMIT)
    aromatic = run.aromatics(seed, plain, AROMATIC_FULL_SIZE, LARGEST_SIZE, TREE_LIMIT)
    named = {enumeration.accepted_name(smiles): name for name, smiles in NAMED.items()}
    assert None not in named, "a named molecule breaks a rule"
    complete = set(named)
    for size in range(1, FULL_SIZE + 1):
        complete |= plain[size]
    for size in range(1, AROMATIC_FULL_SIZE + 1):
        complete |= aromatic[size]
    tail = []
    for size, (count, aromatic_count) in QUOTA.items():
        tail += enumeration.sample(f"{seed} take", plain[size] - aromatic[size] - complete, count)
        tail += enumeration.sample(f"{seed} take", aromatic[size] - complete, aromatic_count)
    log(f"{len(complete)} constitutions complete, {len(tail)} sampled")
    order = f"{seed} order"
    return enumeration.hash_order(order, complete) + enumeration.hash_order(order, tail)
