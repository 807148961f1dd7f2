"""Films of simulations: states go to a process that renders and encodes them, so that the simulation is not disturbed.

film = FilmWriter("out.mp4", [Panel(model=engine.model)], FilmOptions(fps=25))
film.add([film.state(0, engine.data)])
report = film.close()
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from pliant.base.errors import MissingDependency, PliantError, nearest
from pliant.base.figures import INK
from pliant.base.graphics import APT, choose_backend
from pliant.base.numerics import Array
from pliant.base.options import check_values, option
from pliant.films.encoders import MAX_GIF_FPS, SUFFIXES, require
from pliant.films.process import CONTACT_NUMBERS, HEADER, PATCHED, state_spec, view_angles
from pliant.model.contacts import MAX_CONTACTS, contact_forces

if TYPE_CHECKING:
    import mujoco

RESERVE = 64 * 2**20
"""Free space at which a film ends [bytes]: the disk belongs to others too."""
QUEUE = 64
"""Most frames that wait for the process."""
START_TIMEOUT = 60.0
"""Longest wait for the renderer [s of wall time]."""
FINISH_TIMEOUT = 600.0
"""Longest wait for a frame when the film is finished [s of wall time]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmOptions:
    """How a film looks.

    Raises:
        PliantError: wrong values.
    """

    size: str = "640x480"
    """Width and height, such as 1280x720 [pixels]; even numbers from 64 to 3840."""
    fps: float = option(25.0, low=1.0, high=120.0, unit="Hz")
    """Frames per second of the film; at most 50 in a GIF."""
    speed: float = option(1.0, low=1e-4, high=1e4)
    """Simulated seconds per second of the film; 1 is real time, 0.25 is slow motion."""
    camera: str = ""
    """Name of a camera of the robot, or AZIMUTH,ELEVATION[,DISTANCE] in degrees and metres, such as 120,-20; default:
    the whole robot, followed where it walks."""

    contacts: bool = False
    """Draw contact forces as arrows, as the page does."""

    def __post_init__(self) -> None:
        check_values(self)
        self.shape  # noqa: B018

    @property
    def shape(self) -> tuple[int, int]:
        """Width and height [pixels]."""
        numbers = self.size.lower().split("x")
        if len(numbers) == 2 and all(n.isascii() and n.isdigit() and len(n) <= 5 for n in numbers):
            width, height = (int(n) for n in numbers)
            if all(64 <= n <= 3840 and n % 2 == 0 for n in (width, height)):
                return width, height
        raise PliantError(
            f"the size of the film is {self.size!r}; must be WIDTHxHEIGHT with even numbers from 64 to 3840, such as "
            "640x480",
            field="size",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One of the scenes that a film shows side by side."""

    model: mujoco.MjModel
    """The compiled model."""
    title: str = ""
    """Text above it; empty for none."""
    color: str = field(default=INK)
    """Colour of the title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilmReport:
    """Outcome of a film."""

    path: Path
    """The file."""
    frames: int
    """Frames in the file; 0 if there is no file."""
    duration: float
    """Length of the film [s]."""
    late: int
    """Frames that show a neighbour's picture, because rendering was slower than the simulation."""
    fault: str
    """Why the film is shorter than the run, or missing; empty if it is whole."""

    def line(self) -> str:
        """Return what is printed of the film: its file and its length; "" if there is none."""
        late = f", {self.late} frames left out to keep the pace" if self.late else ""
        return f"film: {self.path} ({self.duration:g} s{late})" if self.frames else ""

    def as_dict(self) -> dict[str, object] | None:
        """Return the film for JSON; None if there is none."""
        shown = {"path": str(self.path), "duration": self.duration, "frames": self.frames, "late": self.late}
        return shown if self.frames else None


def check_film(path: Path, options: FilmOptions, what: str = "the film", *, folder: bool = True) -> None:
    """Refuse what can be known to fail before a run.

    Args:
        path: file of the film.
        options: how it looks.
        what: how messages call it, such as "--video".
        folder: whether its folder exists already and is looked at.

    Raises:
        PliantError: the suffix, the folder or the frame rate is wrong.
        MissingDependency: films of this kind need a package.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PliantError(
            f"{what} {path}: the suffix is {path.suffix!r}; must be one of {', '.join(SUFFIXES)}", field="video"
        )
    if folder:
        _check_place(path, what)
    if suffix == ".gif" and options.fps > MAX_GIF_FPS:
        raise PliantError(
            f"{what}: {options.fps:g} frames per second; must be <= {MAX_GIF_FPS:g} in a GIF", field="video_fps"
        )
    require(suffix)


def _check_place(path: Path, what: str) -> None:
    place = path.absolute().parent
    if not place.is_dir():
        raise PliantError(f"{what}: the folder {path.parent} does not exist", file=path, field="video")
    if path.is_dir():
        raise PliantError(f"{what}: the name is that of a folder", file=path, field="video")
    if not os.access(place, os.W_OK):
        raise PliantError(f"{what}: the folder {path.parent} is not writable", file=path, field="video")


class FilmWriter:
    """Writes one film.

    The file appears under its name when it is finished; until then an older film of this name stays.

    Args:
        path: file, .mp4 or .gif.
        panels: what is shown side by side.
        options: size, frame rate, camera.
        clock: write the time above the pictures.
        wait: let `add` wait for the renderer; otherwise frames that come too fast are left out, and their neighbours
            shown longer.

    Raises:
        PliantError: wrong options, or no such camera.
        MissingDependency: no encoder, or no graphics library that works.
    """

    def __init__(
        self,
        path: str | Path,
        panels: Sequence[Panel],
        options: FilmOptions | None = None,
        *,
        clock: bool = False,
        wait: bool = True,
    ) -> None:
        self.path, self.options = Path(path), options or FilmOptions()
        self._panels, self._wait = tuple(panels), wait
        check_film(self.path, self.options)
        for panel in self._panels:
            check_camera(panel.model, self.options.camera)
        import mujoco

        self._mujoco = mujoco
        self._spec = state_spec()
        self._constants = [_constants(panel.model) for panel in self._panels]
        self._part = self.path.with_name(f".{self.path.stem[:100]}-{os.getpid()}.part")
        self._folder = tempfile.TemporaryDirectory(prefix="pliant-film-")
        self._frames: queue.Queue[bytes | None] = queue.Queue(QUEUE)
        self._late = self._skipped = self.added = self.drawn = 0
        self._newest: Sequence[Array] = ()
        self._end: dict[str, Any] | None = None
        self._ended = threading.Event()
        self._report: FilmReport | None = None
        try:
            self._write_job(clock)
            self._process = self._start()
        except BaseException:
            self._folder.cleanup()
            self._part.unlink(missing_ok=True)
            raise
        self._threads = [
            threading.Thread(target=work, name=f"pliant-film-{name}", daemon=True)
            for name, work in (("send", self._send), ("hear", self._hear))
        ]
        for thread in self._threads:
            thread.start()

    def state(self, panel: int, data: mujoco.MjData) -> Array:
        """Return what `add` takes of the present state of a panel's model."""
        return self._told(
            panel, data, contact_forces(self._panels[panel].model, data) if self.options.contacts else None
        )

    def _told(self, panel: int, data: mujoco.MjData, contacts: Array | None) -> Array:
        """Return a state, followed by the contacts where they are drawn."""
        model = self._panels[panel].model
        size = self._mujoco.mj_stateSize(model, self._spec)
        out = np.zeros(size + (CONTACT_NUMBERS if self.options.contacts else 0))
        self._mujoco.mj_getState(model, data, out[:size], self._spec)
        if self.options.contacts and contacts is not None:
            out[size], out[size + 1 : size + 1 + contacts.size] = len(contacts), contacts.ravel()
        return out

    def pose(self, panel: int, qpos: Array, wrenches: Array | None = None, contacts: Array | None = None) -> Array:
        """Return what `add` takes of a panel's model at given positions.

        Args:
            panel: number of the panel.
            qpos: positions, shape (nq,).
            wrenches: force and torque from outside on each body, shape (nbody, 6) [N, N m, world]; None for none.
            contacts: point and force of each contact, shape (n, 6) [m, N, world]; None for none.
        """
        data = self._mujoco.MjData(self._panels[panel].model)
        data.qpos[:] = qpos
        if wrenches is not None:
            data.xfrc_applied[:] = wrenches
        return self._told(panel, data, None if contacts is None else contacts[:MAX_CONTACTS])

    def add(self, states: Sequence[Array], count: int = 1) -> bool:
        """Append a frame.

        Args:
            states: state of each panel.
            count: how many frames long it is shown.

        Returns:
            False if the film has ended; `close` says why.
        """
        if self._ended.is_set():
            return False
        self._newest = states
        constants = [_constants(panel.model) for panel in self._panels]
        patched = constants != self._constants
        frame = HEADER.pack(count + self._skipped, patched) + b"".join(np.asarray(s).tobytes() for s in states)
        if patched:
            frame += b"".join(constants)
        while True:
            try:
                self._frames.put(frame, block=self._wait, timeout=0.5)
            except queue.Full:
                if not self._wait:
                    self._late += count
                    self._skipped += count
                    return True
                if self._ended.is_set():
                    return False
                continue
            self._constants, self._skipped = constants, 0
            self.added += 1
            return True

    def close(self, progress: Callable[[int, int], None] | None = None) -> FilmReport:
        """Render what is left and finish the file; may be called twice.

        Args:
            progress: called with the numbers of pictures that are done, and of all.
        """
        if self._report is not None:
            return self._report
        if self._skipped:
            self._wait, count, self._skipped = True, self._skipped, 0
            self.add(self._newest, count)
        try:
            seen, since = -1, time.monotonic()
            asked = False
            while not self._ended.wait(0.05):
                if not asked:
                    try:
                        self._frames.put_nowait(None)
                        asked = True
                    except queue.Full:
                        pass
                if progress is not None:
                    progress(self.drawn, self.added)
                if self.drawn != seen:
                    seen, since = self.drawn, time.monotonic()
                elif time.monotonic() - since > FINISH_TIMEOUT:
                    self._end = {"frames": 0, "fault": f"the renderer gave no sign for {FINISH_TIMEOUT:g} s"}
                    break
        finally:
            self._report = self._finish()
        return self._report

    def _finish(self) -> FilmReport:
        """End the process and the threads, and put the file in its place."""
        self._ended.set()
        with contextlib.suppress(queue.Full):
            self._frames.put_nowait(None)
        try:
            self._process.wait(5.0 if self._end is not None else 0.1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(5.0)
        end = self._end or {"frames": 0, "fault": f"the renderer ended by itself{_last_words(self._folder.name)}"}
        frames, fault = int(end["frames"]), str(end["fault"])
        try:
            if frames:
                self._part.replace(self.path)
            else:
                self._part.unlink(missing_ok=True)
        except OSError as error:
            frames, fault = 0, f"the film cannot be written: {error.strerror or error}"
        self._folder.cleanup()
        return FilmReport(
            path=self.path, frames=frames, duration=frames / self.options.fps, late=self._late, fault=fault
        )

    # ------------------------------------------------------------------ inside
    def _write_job(self, clock: bool) -> None:
        folder, names = Path(self._folder.name), []
        for k, panel in enumerate(self._panels):
            names.append(f"{k}.mjb")
            self._mujoco.mj_saveModel(panel.model, str(folder / names[-1]), None)
        width, height = self.options.shape
        job = {
            "models": names,
            "titles": [panel.title for panel in self._panels],
            "colors": [panel.color for panel in self._panels],
            "width": width * len(self._panels),
            "height": height,
            "fps": self.options.fps,
            "speed": self.options.speed,
            "camera": self.options.camera,
            "contacts": self.options.contacts,
            "clock": clock,
            "path": str(self._part),
            "suffix": self.path.suffix.lower(),
            "reserve": RESERVE,
        }
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")

    def _start(self) -> subprocess.Popen[bytes]:
        """Start the process with the first graphics library that works."""
        first = choose_backend("a film")
        backends = [first]
        if first == "egl" and not os.environ.get("MUJOCO_GL") and not os.environ.get("PYOPENGL_PLATFORM"):
            backends.append("osmesa")
        reasons = []
        for backend in backends:
            # PyOpenGL otherwise chooses by itself, and not always the same.
            environment = {**os.environ, "MUJOCO_GL": backend, "PYOPENGL_PLATFORM": backend}
            with (Path(self._folder.name) / "errors.txt").open("wb") as errors:
                process = subprocess.Popen(
                    [sys.executable, "-m", "pliant.films.process", self._folder.name],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=environment,
                    start_new_session=True,  # Ctrl-C in the terminal ends the run, which then finishes its film
                )
            if _ready(process):
                return process
            process.kill()
            process.wait()
            _close(process)
            reasons.append(f"{backend}{_last_words(self._folder.name)}")
        raise MissingDependency(
            f"a graphics library that works ({'; '.join(reasons)})",
            command=APT,
            purpose="a film",
        )

    def _send(self) -> None:
        stream: IO[bytes] = self._process.stdin  # pyright: ignore[reportAssignmentType]
        try:
            while (frame := self._frames.get()) is not None:
                stream.write(frame)
        except OSError:
            pass  # the process has ended; it has said why, or `close` says that it has not
        finally:
            with contextlib.suppress(OSError):
                stream.close()

    def _hear(self) -> None:
        stream: IO[bytes] = self._process.stdout  # pyright: ignore[reportAssignmentType]
        with stream:
            for line in stream:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue
                if message.get("event") == "drawn":
                    self.drawn = int(message["drawn"])
                elif message.get("event") == "done":
                    self._end = message
        self._ended.set()


def _constants(model: mujoco.MjModel) -> bytes:
    return b"".join(getattr(model, name).tobytes() for name in PATCHED)


def check_camera(model: mujoco.MjModel, camera: str) -> None:
    """Refuse a camera that a model does not have.

    Args:
        model: the compiled model.
        camera: name of a camera, angles, or empty for the overview.

    Raises:
        PliantError: there is no such camera.
    """
    if not camera or view_angles(camera) is not None:
        return
    names = [model.camera(i).name for i in range(model.ncam) if model.camera(i).name]
    if camera not in names:
        valid = f"{nearest(camera, names)}, or" if names else "the robot has none; must be"
        raise PliantError(f"there is no camera {camera!r}; {valid} AZIMUTH,ELEVATION[,DISTANCE]", field="video_camera")


def _ready(process: subprocess.Popen[bytes]) -> bool:
    """Wait until the process can render; False if it has ended or gives no sign."""
    timer = threading.Timer(START_TIMEOUT, process.kill)
    timer.daemon = True
    timer.start()
    try:
        assert process.stdout is not None
        return any(b'"ready"' in line for line in process.stdout)
    finally:
        timer.cancel()


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _last_words(folder: str) -> str:
    """Return what the process wrote last to its standard error, as the end of a sentence."""
    try:
        lines = (Path(folder) / "errors.txt").read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return f": {lines[-1][:200]}" if lines else ""
