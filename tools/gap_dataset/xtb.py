# SPDX-License-Identifier: Apache-2.0
"""GFN2-xTB energies, gradients and orbital energies through libxtb's C interface."""
import ctypes

import numpy as np

BOHR = 0.52917721092        # angstrom
HARTREE = 27.211386245988   # eV
DEBYE = 2.541746473         # debye per atomic unit
LIBRARY = "libxtb.so.6"


class XtbError(RuntimeError):
    """The calculation failed, as a rule because the charges did not converge."""


def _doubles(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


class Calculator:
    """One neutral singlet at a time; coordinates in bohr, energies in hartree.

    Setting up the parameters takes longer than an energy, so they are kept while the list of
    elements stays the same. Results are new for each molecule: the charges of one molecule never
    become the starting point of the next, and the order of the work leaves no trace.
    """

    def __init__(self):
        lib = self._lib = ctypes.CDLL(LIBRARY)
        for name in ("Environment", "Molecule", "Calculator", "Results"):
            getattr(lib, f"xtb_new{name}").restype = ctypes.c_void_p
        self._env = ctypes.c_void_p(lib.xtb_newEnvironment())
        lib.xtb_setVerbosity(self._env, 0)
        self._numbers = self._molecule = self._parameters = self._results = None

    def start(self, numbers, positions):
        """Turn to a new molecule."""
        lib = self._lib
        if self._results:
            lib.xtb_delResults(ctypes.byref(self._results))
        self._results = ctypes.c_void_p(lib.xtb_newResults())
        if tuple(numbers) == self._numbers:
            lib.xtb_updateMolecule(self._env, self._molecule, _doubles(positions), None)
        else:
            self._set_up(numbers, positions)
        self._check()

    def _set_up(self, numbers, positions):
        lib = self._lib
        self.forget()
        count, charge, unpaired = (ctypes.c_int(len(numbers)), ctypes.c_double(0),
                                   ctypes.c_int(0))
        array = np.asarray(numbers, np.int32)
        self._molecule = ctypes.c_void_p(lib.xtb_newMolecule(
            self._env, ctypes.byref(count),
            array.ctypes.data_as(ctypes.POINTER(ctypes.c_int)), _doubles(positions),
            ctypes.byref(charge), ctypes.byref(unpaired), None, None))
        self._parameters = ctypes.c_void_p(lib.xtb_newCalculator())
        lib.xtb_loadGFN2xTB(self._env, self._molecule, self._parameters, None)
        self._numbers = tuple(numbers)

    def forget(self):
        """Drop the parameters, so that nothing of a failed calculation is used again."""
        if self._parameters:
            self._lib.xtb_delCalculator(ctypes.byref(self._parameters))
            self._lib.xtb_delMolecule(ctypes.byref(self._molecule))
        self._numbers = self._molecule = self._parameters = None

    def _check(self):
        if self._lib.xtb_checkEnvironment(self._env):
            text, size = ctypes.create_string_buffer(512), ctypes.c_int(512)
            self._lib.xtb_getError(self._env, text, ctypes.byref(size))
            self.forget()
            raise XtbError(text.value.decode(errors="replace").strip()[:100])

    def energy_and_gradient(self, positions):
        """Energy, and its gradient as a flat array."""
        lib = self._lib
        lib.xtb_updateMolecule(self._env, self._molecule, _doubles(positions), None)
        lib.xtb_singlepoint(self._env, self._molecule, self._parameters, self._results)
        self._check()
        energy, gradient = ctypes.c_double(), np.zeros(3 * len(self._numbers))
        lib.xtb_getEnergy(self._env, self._results, ctypes.byref(energy))
        lib.xtb_getGradient(self._env, self._results, _doubles(gradient))
        self._check()
        return energy.value, gradient

    def frontier_orbitals(self):
        """(HOMO, LUMO) of the last energy, in eV."""
        size = ctypes.c_int()
        self._lib.xtb_getNao(self._env, self._results, ctypes.byref(size))
        levels, occupations = np.zeros(size.value), np.zeros(size.value)
        self._lib.xtb_getOrbitalEigenvalues(self._env, self._results, _doubles(levels))
        self._lib.xtb_getOrbitalOccupations(self._env, self._results, _doubles(occupations))
        self._check()
        occupied = int(round(occupations.sum() / 2))
        return levels[occupied - 1] * HARTREE, levels[occupied] * HARTREE

    def dipole(self):
        """Length of the dipole moment of the last energy, in debye."""
        vector = np.zeros(3)
        self._lib.xtb_getDipole(self._env, self._results, _doubles(vector))
        self._check()
        return float(np.linalg.norm(vector)) * DEBYE
