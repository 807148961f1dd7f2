"""The recording of a run: samples, poses, and resets, payloads, external forces and contact forces as events."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.base.errors import DivergedError, PliantError, RecordingError
from pliant.base.numerics import Array
from pliant.devices.base import Device, Sample
from pliant.engine.base import Engine, MujocoState, mujoco_state
from pliant.model.contacts import contact_forces

if TYPE_CHECKING:
    from pliant.recording.recorder import Recorder

FORCES_PERIOD_NS = 40_000_000
"""Least time between two events of external forces, which a pointer changes in every step, and of contacts [ns]."""
POSE_PERIOD_NS = 10_000_000
"""Time between two poses of the model [ns]."""


class RunLog:
    """Log of the loop, while it records.

    Args:
        recorder: a `Recorder`, or the path of a recording; None records nothing.
        engine: physics engine, for its payloads.
        devices: name -> device.
        dt_ns: time of a step [ns].
    """

    __slots__ = (
        "_contacts", "_contacts_due", "_devices", "_dt_ns", "_engine", "_forces", "_forces_due", "_payloads",
        "_pose_due", "_qpos", "_recorded_change", "_recorded_forces", "_touching", "recorder", "was_reset", "write",
    )  # fmt: skip

    def __init__(
        self, recorder: Recorder | str | Path | None, engine: Engine, devices: Mapping[str, Device], dt_ns: int
    ) -> None:
        if isinstance(recorder, str | Path):
            from pliant.recording.recorder import Recorder

            recorder = Recorder(recorder)
        self.recorder: Recorder | None = recorder
        self.write: Callable[[Sample, int], None] | None = None
        """Records a sample at a log time [ns]; None while nothing is recorded."""
        self.was_reset = False
        """Whether a reset is not in the recording yet."""
        self._engine, self._devices, self._dt_ns = engine, devices, dt_ns
        self._payloads = engine.payloads if isinstance(engine, MujocoState) else None
        self._recorded_change = 0
        self._forces = engine.data.xfrc_applied if isinstance(engine, MujocoState) else None
        self._recorded_forces, self._forces_due = b"", 0
        self._contacts, self._contacts_due, self._touching = False, 0, False
        self._qpos: Array | None = None  # where poses are recorded
        self._pose_due = 0

    @property
    def path(self) -> Path | None:
        """Path of the current recording; None if nothing is recorded."""
        return None if self.write is None or self.recorder is None else self.recorder.path

    def has_events(self, now_ns: int) -> bool:
        """Return whether a reset, new payloads, new external forces or a pose are not in the recording yet.

        Args:
            now_ns: simulation time [ns].
        """
        payloads, forces = self._payloads, self._forces
        return (
            self.was_reset
            or (payloads is not None and payloads.changes != self._recorded_change)
            or (forces is not None and now_ns >= self._forces_due and forces.tobytes() != self._recorded_forces)
            or (self._contacts and now_ns >= self._contacts_due)
            or (self._qpos is not None and now_ns >= self._pose_due)
        )

    def begin(self, path: str | Path, metadata: Mapping[str, str] | None, seed: int, *, contacts: bool) -> None:
        """Record into a new file.

        Raises:
            PliantError: a recording is already open.
            RecordingError: the file exists, or cannot be written.
        """
        from pliant.recording.recorder import Recorder

        if self.write is not None:
            raise PliantError("a recording is already running", field="record")
        recorder = Recorder(path, metadata=metadata, contacts=contacts)
        self._open(recorder, seed)
        self.recorder = recorder

    def open(self, seed: int) -> None:
        """Open the recording that the run began with, where there is one."""
        if self.recorder is not None:
            self._open(self.recorder, seed)

    def end(self) -> None:
        """End the recording and close its file."""
        recorder, self.recorder, self.write = self.recorder, None, None
        if recorder is not None:
            recorder.close()

    def record_fault(self, error: PliantError, log_ns: int, now_ns: int) -> None:
        """Record the error that ends a run, also before its first sample; a run that did not begin leaves no file."""
        if now_ns == 0 or self.recorder is None or self.write is None:
            return
        values: dict[str, object] = {"error": type(error).__name__, "message": str(error)}
        if isinstance(error, DivergedError):
            values |= {"joint": error.joint, "dump": error.dump}
        with contextlib.suppress(RecordingError):  # the disk is full, which may be the fault itself
            self.recorder.event("fault", values, log_ns, now_ns)

    def _open(self, recorder: Recorder, seed: int) -> None:
        engine = self._engine if isinstance(self._engine, MujocoState) else None
        recorder.start(
            self._devices,
            dt=self._dt_ns * 1e-9,
            seed=seed,
            model_hash=self._engine.model_hash,
            model=None if engine is None else engine.model,
        )
        self._qpos, self._pose_due = None if engine is None or not recorder.records_poses else engine.data.qpos, 0
        self.write = recorder.record
        self.was_reset = False
        self._contacts, self._contacts_due = recorder.contacts and self._forces is not None, 0
        if self._forces is not None:
            self._recorded_forces, self._forces_due = bytes(self._forces.nbytes), 0
        if self._payloads is not None:
            self._recorded_change = -1 if self._payloads else self._payloads.changes

    def write_events(self, seed: int, log_ns: int, now_ns: int) -> None:
        """Record a reset, new payloads, external forces and contact forces, at the time at which the step began.

        A pose is recorded at the time at which it ended.

        Args:
            seed: of the run since the reset.
            log_ns: log time at the end of the step [ns].
            now_ns: simulation time at the end of the step [ns].
        """
        recorder, payloads = self.recorder, self._payloads
        if recorder is None:
            return
        times = log_ns - self._dt_ns, now_ns - self._dt_ns
        if self.was_reset:
            self.was_reset = False
            recorder.event("reset", {"seed": seed}, *times)
            self._forces_due = self._contacts_due = self._pose_due = 0
            if self._forces is not None:
                self._recorded_forces = bytes(self._forces.nbytes)
        if payloads is not None and payloads.changes != self._recorded_change:
            self._recorded_change = payloads.changes
            loads = {body: {"mass": load.mass, "offset": load.offset} for body, load in payloads.loads.items()}
            recorder.event("payloads", {"payloads": loads}, *times)
        if self._contacts and now_ns >= self._contacts_due:
            self._contacts_due = now_ns + FORCES_PERIOD_NS
            engine = mujoco_state(self._engine, "the log of contacts")
            found = contact_forces(engine.model, engine.data).tolist()
            if found or self._touching:
                recorder.event("contacts", {"contacts": found}, *times)
            self._touching = bool(found)
        if self._qpos is not None and now_ns >= self._pose_due:
            self._pose_due = now_ns - now_ns % POSE_PERIOD_NS + POSE_PERIOD_NS
            recorder.pose(self._qpos, log_ns, now_ns)
        forces = self._forces
        if forces is None or now_ns < self._forces_due or forces.tobytes() == self._recorded_forces:
            return
        self._recorded_forces, self._forces_due = forces.tobytes(), now_ns + FORCES_PERIOD_NS
        model = mujoco_state(self._engine, "the log of forces").model
        acting = {model.body(int(b)).name: forces[b].tolist() for b in forces.any(axis=1).nonzero()[0]}
        recorder.event("forces", {"forces": acting}, *times)
