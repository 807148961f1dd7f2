"""Observation of all worlds of a batch: one call of machine code for the actuators of one law."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from pliant.laws import layout
from pliant.laws.compile import Machine, assemble, compiled, optimised

if TYPE_CHECKING:
    import numpy as np

    from pliant.laws import Law

_ASSEMBLY = """
define void @many(ptr %code, i64 %n, ptr %par, i64 %width, ptr %x, ptr %act, i64 %states, ptr %out) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %row = mul i64 %i, %width
  %par_i = getelementptr double, ptr %par, i64 %row
  %five = mul i64 %i, 5
  %x_i = getelementptr double, ptr %x, i64 %five
  %q = load double, ptr %x_i
  %dq_p = getelementptr double, ptr %x_i, i64 1
  %dq = load double, ptr %dq_p
  %r1_p = getelementptr double, ptr %x_i, i64 2
  %r1 = load double, ptr %r1_p
  %r2_p = getelementptr double, ptr %x_i, i64 3
  %r2 = load double, ptr %r2_p
  %h_p = getelementptr double, ptr %x_i, i64 4
  %h = load double, ptr %h_p
  %first = mul i64 %i, %states
  %act_i = getelementptr double, ptr %act, i64 %first
  %offset = mul i64 %i, {observations}
  %into = getelementptr double, ptr %out, i64 %offset
  call void %code(ptr %par_i, double %q, double %dq, double %r1, double %r2, double %h,
                  ptr %act_i, double 1.0, ptr %into)
  %next = add i64 %i, 1
  br label %head
end:
  ret void
}}
"""


@functools.cache
def _machine() -> tuple[Machine, Callable[..., None]]:
    """Return the machine code and its function."""
    engine, code = assemble(optimised(_ASSEMBLY.format(observations=layout.OBSERVATIONS)), "many")
    address, count = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(None, address, count, address, count, address, address, count, address)
    return engine, kind(code)


def observe_many(cls: type[Law], rows: np.ndarray, points: np.ndarray, states: np.ndarray, out: np.ndarray) -> None:
    """Evaluate the fields of `pliant.laws.fields.OBSERVED` for actuators of one law, in one call.

    Args:
        cls: the law of these actuators.
        rows: parameter vectors, shape (n, PARAMETERS or more). All arrays are float64 in C order.
        points: q, dq, reference 1, reference 2, time step of each, shape (n, 5).
        states: states, shape (n, states or 1).
        out: result, shape (n, OBSERVATIONS).
    """
    n, width = rows.shape
    _machine()[1](
        compiled(cls).observe, n, rows.ctypes.data, width, points.ctypes.data, states.ctypes.data, states.shape[1],
        out.ctypes.data,
    )  # fmt: skip
