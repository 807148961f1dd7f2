"""Steps of an engine in one call of machine code: MuJoCo's step and the kernels that run before and after it.

A program is three lists of calls: one before the first step, one for each step, one after the last step. Each call is a
function ``void (block)`` and its block of arguments (`pliant.laws.compile.BoundKernel`). A kernel ends the run by
writing a number other than 0 to ``stop``.

MuJoCo ends the process at an error (``mju_error``), unless its handler of messages does not return. The package mujoco
therefore leaves by ``longjmp`` and raises `mujoco.FatalError`; a program does the same. Other messages go to the
handler that would get them without a program. The interpreter's lock is released while a program runs, and taken after
every `SIGNAL_PERIOD` steps for the signals of the operating system.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import NoReturn

import mujoco
import numpy as np

from pliant.base.errors import PliantError
from pliant.engine.abi import library as mujoco_library
from pliant.engine.abi import verify
from pliant.laws.compile import BoundKernel, assemble, from_block

STOPPED = 1
"""Result of a run that a kernel has ended."""
SIGNAL_PERIOD = 64
"""Steps after which a program looks for signals of the operating system, such as that of Ctrl-C."""
_JUMP_BYTES = 512
"""Room for a ``jmp_buf``: 200 bytes with glibc on x86-64, 312 on arm64, 192 on macOS."""
_MESSAGE = 1048
"""Bytes of an ``mjLogMessage`` up to the name of the function: level, topic, subject of 1024, body, function."""
_SUBJECT, _FUNCTION = 8, 1040
_ERROR = 3
"""``mjLOG_ERROR``."""

_ASSEMBLY = """
declare i32 @_setjmp(ptr) returns_twice
declare void @longjmp(ptr, i32) noreturn
declare ptr @pthread_getspecific({key_type})
declare i32 @pthread_setspecific({key_type}, ptr)
declare ptr @memcpy(ptr, ptr, i64)

define void @on_message(ptr %message) {{
  %level = load i32, ptr %message
  %fatal = icmp sge i32 %level, {error}
  br i1 %fatal, label %leave, label %forward
leave:
  %frame = call ptr @pthread_getspecific({key_type} {key})
  %kept_p = getelementptr i8, ptr %frame, i64 {jump}
  %kept = load ptr, ptr %kept_p
  %copied = call ptr @memcpy(ptr %kept, ptr %message, i64 {message})
  call void @longjmp(ptr %frame, i32 1)
  unreachable
forward:
  %handler = call ptr {global_handler}()
  call void %handler(ptr %message)
  ret void
}}

define private i1 @calls(ptr %list, ptr %stop) {{
entry:
  %count = load i64, ptr %list
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %tail ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %end
body:
  %two = mul i64 %i, 2
  %at = add i64 %two, 1
  %code_p = getelementptr i64, ptr %list, i64 %at
  %code = load ptr, ptr %code_p
  %block_p = getelementptr i64, ptr %code_p, i64 1
  %block = load ptr, ptr %block_p
  call void %code(ptr %block)
  %flag = load i64, ptr %stop
  %stopped = icmp ne i64 %flag, 0
  %next = add i64 %i, 1
  br i1 %stopped, label %end, label %tail
tail:
  br label %head
end:
  %result = phi i1 [ false, %head ], [ true, %body ]
  ret i1 %result
}}

define private i32 @steps(ptr %program, i64 %n, ptr %thread) {{
entry:
  %first = load ptr, ptr %program
  %each_p = getelementptr i64, ptr %program, i64 1
  %each = load ptr, ptr %each_p
  %last_p = getelementptr i64, ptr %program, i64 2
  %last = load ptr, ptr %last_p
  %stop_p = getelementptr i64, ptr %program, i64 3
  %stop = load ptr, ptr %stop_p
  %ended_before = call i1 @calls(ptr %first, ptr %stop)
  br i1 %ended_before, label %ended, label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %tail ], [ %next, %signals ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %after
body:
  %ended_in = call i1 @calls(ptr %each, ptr %stop)
  %next = add i64 %i, 1
  %part = urem i64 %next, {period}
  %due = icmp eq i64 %part, 0
  %look = select i1 %ended_in, i1 false, i1 %due
  br i1 %look, label %signals, label %tail
tail:
  br i1 %ended_in, label %ended, label %head
signals:
  call void {take}(ptr %thread)
  %raised = call i32 {check_signals}()
  %same = call ptr {release}()
  %interrupted = icmp slt i32 %raised, 0
  br i1 %interrupted, label %after, label %head
after:
  %ended_after = call i1 @calls(ptr %last, ptr %stop)
  br i1 %ended_after, label %ended, label %done
done:
  ret i32 0
ended:
  ret i32 {stopped}
}}

define i32 @run(ptr %program, i64 %n) {{
entry:
  %frame = alloca [{frame} x i8], align 64
  %thread = call ptr {release}()
  %outer_frame = call ptr @pthread_getspecific({key_type} {key})
  %outer_handler = call ptr {set_handler}(ptr @on_message)
  %message_p = getelementptr i64, ptr %program, i64 4
  %message = load ptr, ptr %message_p
  %kept_p = getelementptr i8, ptr %frame, i64 {jump}
  store ptr %message, ptr %kept_p
  %set = call i32 @pthread_setspecific({key_type} {key}, ptr %frame)
  %jumped = call i32 @_setjmp(ptr %frame) returns_twice
  %failed = icmp ne i32 %jumped, 0
  br i1 %failed, label %end, label %begin
begin:
  %result = call i32 @steps(ptr %program, i64 %n, ptr %thread)
  br label %end
end:
  %status = phi i32 [ %result, %begin ], [ 2, %entry ]
  %set_back = call i32 @pthread_setspecific({key_type} {key}, ptr %outer_frame)
  %ours = call ptr {set_handler}(ptr %outer_handler)
  call void {take}(ptr %thread)
  ret i32 %status
}}
"""


def _at(function: ctypes._NamedFuncPointer) -> str:
    """Return a C function as a value of LLVM assembly."""
    return f"inttoptr (i64 {ctypes.cast(function, ctypes.c_void_p).value} to ptr)"


class _Machine:
    """The machine code of all programs."""

    def __init__(self) -> None:
        verify()
        library, process, python = mujoco_library(), ctypes.CDLL(None), ctypes.pythonapi
        key = ctypes.c_ulong(0)  # unsigned int with glibc, unsigned long on macOS
        if process.pthread_key_create(ctypes.byref(key), None):
            raise PliantError("the process has no thread-specific key left, which a step of the engine needs")
        text = _ASSEMBLY.format(
            key=key.value,
            key_type=f"i{8 * ctypes.sizeof(ctypes.c_ulong)}" if _key_is_long() else "i32",
            jump=_JUMP_BYTES,
            frame=_JUMP_BYTES + 8,
            message=_MESSAGE,
            error=_ERROR,
            stopped=STOPPED,
            global_handler=_at(library._mjPRIVATE_getGlobalLogHandler),
            set_handler=_at(library._mjPRIVATE_setTlsLogHandler),
            release=_at(python.PyEval_SaveThread),
            take=_at(python.PyEval_RestoreThread),
            check_signals=_at(python.PyErr_CheckSignals),
            period=SIGNAL_PERIOD,
        )
        text += from_block("step", _at(library.mj_step), ("ptr", "ptr"))
        text += from_block("get_state", _at(library.mj_getState), ("ptr", "ptr", "ptr", "i32"))
        self._engine, run = assemble(text, "run")
        self.step = self._engine.get_function_address("step")
        self.get_state = self._engine.get_function_address("get_state")
        # The code releases the interpreter's lock by itself, so that an error of a Python callback is seen here.
        self.run = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)(run)


def _key_is_long() -> bool:
    import sys

    return sys.platform == "darwin"


@functools.cache
def _machine() -> _Machine:
    return _Machine()


def physics(model: mujoco.MjModel, data: mujoco.MjData) -> BoundKernel:
    """Return the call of ``mj_step``. Python must not call it: an error of MuJoCo would end the process."""
    return BoundKernel(_machine().step, (model._address, data._address), (model, data))


def state_copy(model: mujoco.MjModel, data: mujoco.MjData, out: np.ndarray, spec: int) -> BoundKernel:
    """Return the call of ``mj_getState``, which copies the state of ``data`` into an array.

    Args:
        model: compiled model.
        data: its data.
        out: float64 in C order, of the size that ``mj_stateSize`` returns.
        spec: bits of `mujoco.mjtState`.
    """
    return BoundKernel(_machine().get_state, (model._address, data._address, out, spec), (model, data))


class StepProgram:
    """Calls that one call of machine code runs before, in and after n steps.

    Args:
        first: calls before the first step.
        each: calls of each step, in order.
        last: calls after the last step; they are left out where a kernel has ended the run.
        stop: int64 array of one element that ends the run where it is not 0.
    """

    def __init__(
        self, first: Sequence[BoundKernel], each: Sequence[BoundKernel], last: Sequence[BoundKernel], stop: np.ndarray
    ) -> None:
        lists = [
            np.array([len(calls), *(number for call in calls for number in (call.code, call.block))], dtype=np.int64)
            for calls in (first, each, last)
        ]
        self._message = np.zeros(_MESSAGE, dtype=np.uint8)
        self._program = np.array(
            [*(part.ctypes.data for part in lists), stop.ctypes.data, self._message.ctypes.data], dtype=np.int64
        )
        self.first, self.each, self.last = tuple(first), tuple(each), tuple(last)
        self._kept = (lists, stop)
        self._address = self._program.ctypes.data
        self._run = _machine().run

    def run(self, n: int) -> bool:
        """Run n steps; returns whether a kernel has ended them.

        What the handler of a signal raises ends them too; the calls after the last step have run then.

        Raises:
            mujoco.FatalError: MuJoCo reports an error.
        """
        status = self._run(self._address, n)
        if status > STOPPED:
            self._fail()
        return status != 0

    def _fail(self) -> NoReturn:
        """Raise the error of MuJoCo with the text that the package mujoco gives it."""
        data = self._message.tobytes()
        text = data[_SUBJECT:_FUNCTION].partition(b"\0")[0].decode(errors="replace")
        function = ctypes.c_char_p(int.from_bytes(data[_FUNCTION:], "little") or None).value
        raise mujoco.FatalError(text if function is None else f"{function.decode()}: {text}")
