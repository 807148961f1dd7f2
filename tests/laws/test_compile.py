"""The machine code of the laws: cached, never stale, never another law's."""

import ctypes
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba.core import event

from pliant.base.codecache import read_shipped, read_text
from pliant.base.errors import LawError
from pliant.laws import SEA, Law, QbMove, law
from pliant.laws.compile import assemble, bound, compiled

LAWS = {"SEA": SEA, "QbMove": QbMove}


def python(script, cache):
    environment = {**os.environ, "PLIANT_CACHE": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=300
    ).stdout


@pytest.mark.slow
def test_laws_compiled_in_different_processes_do_not_call_each_others_kernels(tmp_path):
    for name in LAWS:
        python(f"from pliant.laws import *; {name}().evaluate(0.1, 0.2, 0.01)", tmp_path)
    script = "from pliant.laws import *\nfor x in (SEA, QbMove): print(*x().evaluate(0.1, 0.2, 0.01))"
    for cls, line in zip(LAWS.values(), python(script, tmp_path).splitlines(), strict=True):
        p = cls().parameters()
        expected = (*cls.torques(0.1, 0.2, 0.01, p), cls.stiffness(0.1, 0.2, 0.01, p), cls.energy(0.1, 0.2, 0.01, p))
        np.testing.assert_allclose([float(x) for x in line.split()], expected, rtol=1e-13)


@pytest.mark.parametrize("entry", ["advance", "torque", "observe", "hold"])
def test_the_machine_code_of_an_entry_is_one_function_whose_arrays_do_not_overlap(entry):
    code = compiled(SEA)
    assert getattr(code, entry)
    text = read_shipped(code._shipped(entry), ";") or read_text(code._assembly_file(entry), ";")
    assert text is not None
    (head,) = re.findall(r"^define .*", text, re.MULTILINE)
    assert f"@pliant_sea_{entry}(" in head
    arguments = head.partition("(")[2]
    assert arguments.count("ptr ") == arguments.count("ptr noalias ") > 0


def test_a_law_that_is_not_registered_cannot_be_compiled():
    @dataclass(frozen=True)
    class Loose(Law):
        k: float = 1.0

    with pytest.raises(LawError, match=r"Loose is not registered; decorate it with @law\('name'\)"):
        compiled(Loose)


def test_a_kernel_that_cannot_be_compiled_is_answered_with_the_reason_and_what_is_valid():
    @law("test_uncompilable")
    @dataclass(frozen=True)
    class Uncompilable(Law):
        k: float = 1.0

        @staticmethod
        def energy(q, theta_1, theta_2, p):
            return 0.5 * p[0] * q * q

        @staticmethod
        def torques(q, theta_1, theta_2, p):
            return open("spring.txt").read(), 0.0, 0.0  # noqa: PTH123

        @staticmethod
        def stiffness(q, theta_1, theta_2, p):
            return p[0]

    with pytest.raises(LawError, match=r"kernels of Uncompilable cannot be compiled: .*Valid in a kernel"):
        Uncompilable().evaluate(0.0, 0.0)


SPRINGS = (
    "K = {k}\ndef scaled(k):\n    def f(x):\n        return k * x\n    return f\none, ten = scaled(1.0), scaled(10.0)\n"
)
LAW = """
from dataclasses import dataclass
import springs
from springs import one, ten
from pliant.laws import Law, law

@law("imported_constant")
@dataclass(frozen=True)
class Imported(Law):
    k: float = 1.0

    @staticmethod
    def torques(q, theta_1, theta_2, p):
        return -p[0] * springs.K * (q - theta_1), p[0] * springs.K * (theta_1 - q), 0.0

    @staticmethod
    def stiffness(q, theta_1, theta_2, p):
        return p[0] * springs.K

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        return one(1.0) + ten(1.0)

values = Imported().evaluate(1.0, 0.0)
print(values.torque, values.energy)
"""


@pytest.mark.slow
def test_a_constant_in_an_imported_module_and_two_closures_of_one_function_reach_the_machine_code(tmp_path):
    (tmp_path / "law_of_a_user.py").write_text(LAW)
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.dont_write_bytecode = True; import law_of_a_user"
    for k in (2.0, 3.0):
        (tmp_path / "springs.py").write_text(SPRINGS.format(k=k))
        assert [float(x) for x in python(script, tmp_path / "cache").split()] == [-k, 11.0]


def test_a_damaged_file_of_a_law_is_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path))
    monkeypatch.setattr("pliant.laws.compile._compiled", {})
    assert compiled(SEA).hold
    (path,) = (tmp_path / "laws").glob("sea_*.hold.*.ll")
    path.write_bytes(path.read_bytes()[:2000])
    monkeypatch.setattr("pliant.laws.compile._compiled", {})
    assert compiled(SEA).hold
    assert read_text(path, ";") is not None


def test_a_law_shares_with_another_process_what_is_not_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path))
    monkeypatch.setattr("pliant.laws.compile._compiled", {})
    monkeypatch.setattr("pliant.base.shipped.folder", lambda: None)
    built = []
    for cls in (SEA, QbMove):
        monkeypatch.setattr("pliant.laws.compile._shared", {})  # as in a new process
        with event.install_recorder("numba:compile") as heard:
            assert compiled(cls).hold
        built.append({e.data["dispatcher"].py_func.__name__ for _, e in heard.buffer if e.is_start})
    own = {"hold", "hold_c", "references"}
    assert built[1] & own == built[0] & own != set()
    shared = {"rest_references", "rest_spring"}
    assert built[0] >= shared
    assert not built[1] & shared


def test_a_kernel_that_calls_itself_is_refused_with_its_place():
    def fall(x):
        return fall(x)

    @law("test_recursive")
    @dataclass(frozen=True)
    class Recursive(Law):
        k: float = 1.0

        @staticmethod
        def energy(q, theta_1, theta_2, p):
            return fall(q)

        @staticmethod
        def torques(q, theta_1, theta_2, p):
            return fall(q), 0.0, 0.0

        @staticmethod
        def stiffness(q, theta_1, theta_2, p):
            return p[0]

    with pytest.raises(LawError, match=r"fall calls itself; a kernel must not be recursive") as caught:
        Recursive().evaluate(0.0, 0.0)
    assert caught.value.file == __file__


SQUARE = """
define double @square(double %x) {
  %y = fmul double %x, %x
  ret double %y
}
"""


def test_machine_code_is_generated_once_and_again_where_its_file_is_damaged_or_of_another_text(tmp_path, monkeypatch):
    parsed = []
    parse = llvm.parse_assembly
    monkeypatch.setattr(llvm, "parse_assembly", lambda text: parsed.append(text) or parse(text))

    def square(text=SQUARE):
        engine, address = assemble(text, "square", tmp_path / "square")
        return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)(3.0), engine

    assert square()[0] == 9.0
    (kept,) = tmp_path.iterdir()
    assert square()[0] == 9.0
    assert parsed == [SQUARE, ""]
    kept.write_bytes(kept.read_bytes()[:-9])
    assert square()[0] == 9.0
    assert parsed[2:] == [SQUARE]
    assert square(SQUARE.replace("fmul", "fadd"))[0] == 6.0
    assert len(list(tmp_path.iterdir())) == 2


PAIR = np.dtype([("x", "f8", (2,)), ("sum", "f8")], align=True)


def add(s):
    s.sum = s.x[0] + s.x[1]


def test_a_bound_kernel_writes_the_record_that_it_is_given():
    record = np.zeros(1, PAIR)
    kernel = bound(add, record)
    record["x"] = 2.0, 3.0
    kernel()
    assert record["sum"][0] == 5.0


def test_the_call_of_a_bound_kernel_keeps_its_arguments_when_the_kernel_is_gone():
    records = [np.zeros(1, PAIR) for _ in range(50)]
    calls = [bound(add, record).call for record in records]
    for n, (record, call) in enumerate(zip(records, calls, strict=True)):
        record["x"] = n, 1.0
        call()
    assert [record["sum"][0] for record in records] == [n + 1.0 for n in range(50)]


def through_an_array(x):
    x[0] = np.ones(3).sum()


def test_a_kernel_that_makes_arrays_is_refused():
    with pytest.raises(LawError, match="through_an_array: a kernel makes arrays"):
        bound(through_an_array, np.zeros(1))


def test_a_law_whose_kernel_makes_arrays_is_refused():
    @law("test_arrays")
    @dataclass(frozen=True)
    class Arrays(Law):
        k: float = 1.0

        @staticmethod
        def energy(q, theta_1, theta_2, p):
            return 0.5 * p[0] * q * q

        @staticmethod
        def torques(q, theta_1, theta_2, p):
            return np.full(2, p[0] * q).sum(), 0.0, 0.0

        @staticmethod
        def stiffness(q, theta_1, theta_2, p):
            return p[0]

    with pytest.raises(LawError, match=r"arrays.*: a kernel makes arrays\. Valid in a kernel"):
        _ = compiled(Arrays).torque
