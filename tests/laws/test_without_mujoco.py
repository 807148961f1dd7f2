"""The laws run where MuJoCo is not installed: evaluation, simulation, and their source for Warp."""

import os
import subprocess
import sys

PROGRAM = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"mujoco", "gymnasium", "cyclopts", "rich"}:
            raise ImportError(f"{name} is not installed here")

sys.meta_path.insert(0, Absent())
import numpy as np
from pliant.laws import SEA, CompliantActuator, Mode, QbMove

print(sorted({name.partition(".")[0] for name in sys.modules} & {"mujoco", "numba", "scipy"}))
values = QbMove().evaluate(0.1, 0.2, -0.1)
print(values.torque < 0.0, values.stiffness > 0.0)
time = np.linspace(0.0, 0.2, 201)
traces = CompliantActuator(SEA(k=10.0), Mode.SPRING_EQ_PRESET).simulate(0.1 * np.sin(time), None, 0.0)
print(np.ptp(traces.torque) > 0.01)
from pliant.laws.compile import law_functions
from pliant.learn.laws.translate import ARRAY, REAL, translate

bound = law_functions(QbMove)
print(translate({bound["law_energy"]: (REAL, REAL, REAL, ARRAY)}, bound, "QbMove").text.count("def ") > 2)
"""


def test_the_laws_evaluate_and_simulate_without_mujoco():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[]", "True True", "True", "True"], done.stderr


WITHOUT_SYMPY = (
    PROGRAM.partition("import numpy")[0].replace('"mujoco", ', '"sympy", "mujoco", ')
    + """
from pliant.laws import registered_laws

print(len(registered_laws()) > 5)
"""
)


def test_no_law_of_pliant_needs_sympy(tmp_path):
    """Their kernels are written; those that follow from an energy need it, where no cache holds them."""
    environment = {**os.environ, "PLIANT_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SYMPY], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout.split() == ["True"], done.stderr
