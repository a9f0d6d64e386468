# SPDX-License-Identifier: Apache-2.0
"""Turns the journal into the files that ship."""
import csv
import lzma

from rdkit import Chem

import enumeration
import stereo
import worklist

COLUMNS = ("smiles", "gap_ev", "homo_ev", "lumo_ev", "dipole_debye", "energy_hartree",
           "num_atoms", "split")
SYMBOLS = {1: "H", 6: "C", 7: "N", 8: "O", 9: "F"}
VALID_SHARE = TEST_SHARE = 0.1


def split_parts(constitutions, seed):
    """{constitution: part}: 80/10/10, at random."""
    order = enumeration.hash_order(f"{seed} split", set(constitutions))
    test, valid = (round(len(order) * share) for share in (TEST_SHARE, VALID_SHARE))
    return {name: "test" if i < test else "valid" if i < test + valid else "train"
            for i, name in enumerate(order)}


def select(work_list, journal, rows):
    """The first `rows` rows in the order of the work list, whatever order they came in.

    This is what makes the set independent of the number of processes and of their speed.
    """
    chosen = {}
    for constitution in work_list:
        for row in journal.get(constitution, {"rows": []})["rows"]:
            if len(chosen) < rows and stereo.valid_name(row["smiles"]):
                chosen.setdefault(row["smiles"], row)
    return list(chosen.values())


def _table_line(row, part):
    return [row["smiles"]] + [f"{row[key]:.4f}" for key in ("gap_ev", "homo_ev", "lumo_ev")] + [
        f"{row['dipole_debye']:.3f}", f"{row['energy_hartree']:.6f}", len(row["numbers"]), part]


def _xyz_block(row):
    lines = [str(len(row["numbers"])),
             f"{row['smiles']} gap_ev={row['gap_ev']:.4f} "
             f"energy_hartree={row['energy_hartree']:.6f}"]
    for number, place in zip(row["numbers"], row["positions"]):
        # Adding zero turns -0.0 into 0.0.
        lines.append(" ".join([SYMBOLS[number]] + [f"{value + 0.0:.4f}" for value in place]))
    return "\n".join(lines) + "\n"


def check_named(rows):
    """Every molecule a reader would look for is there."""
    present = {stereo.without_stereo(row["smiles"]) for row in rows}
    missing = [name for name, smiles in worklist.NAMED.items()
               if Chem.CanonSmiles(smiles) not in present]
    assert not missing, f"missing: {', '.join(missing)}"


def write(work_list, journal, directory, rows, seed, log=print):
    """gap_gfn2.csv and gap_gfn2.xyz.xz, sorted by heavy atoms, then SMILES."""
    chosen = select(work_list, journal, rows)
    chosen.sort(key=lambda row: (enumeration.heavy_atoms(row["smiles"]), row["smiles"]))
    check_named(chosen)
    constitutions = [stereo.without_stereo(row["smiles"]) for row in chosen]
    parts = split_parts(constitutions, seed)
    with open(directory / "gap_gfn2.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        for row, constitution in zip(chosen, constitutions):
            table.writerow(_table_line(row, parts[constitution]))
    geometries = "".join(map(_xyz_block, chosen)).encode()
    packed = lzma.compress(geometries, preset=9 | lzma.PRESET_EXTREME)
    (directory / "gap_gfn2.xyz.xz").write_bytes(packed)
    log(f"{len(chosen)} rows, {len(parts)} constitutions, "
        f"{(directory / 'gap_gfn2.csv').stat().st_size} + {len(packed)} bytes")
