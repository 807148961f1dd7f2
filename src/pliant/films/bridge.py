"""A film of a simulation, taken by the loop like a bridge's samples; the run is the same without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pliant.base.errors import PliantError
from pliant.devices.base import SampleSource
from pliant.engine.base import Engine, mujoco_state
from pliant.films.film import FilmOptions, FilmReport, FilmWriter, Panel, check_camera
from pliant.simulation.bridge import BridgeBase


class FilmBridge(BridgeBase):
    """Films a `MujocoEngine`; give it to `Simulation` as a bridge.

    What goes wrong with the film does not end the run: `finish` says it afterwards.

    Args:
        engine: the engine that is filmed.
        path: file, .mp4 or .gif.
        options: size, frame rate, speed, camera.
        wait: let the loop wait for the renderer; False for runs that keep real time.

    Raises:
        PliantError: the model has no such camera, or the engine is no MujocoEngine.
    """

    name = "film"
    paced = False

    def __init__(
        self, engine: Engine, path: str | Path, options: FilmOptions | None = None, *, wait: bool = True
    ) -> None:
        self._engine = mujoco_state(engine, "a film")
        self._path, self._wait = Path(path), wait
        self._options = options or FilmOptions()
        check_camera(self._engine.model, self._options.camera)
        self._period_ns = max(1, round(1e9 * self._options.speed / self._options.fps))
        self._film: FilmWriter | None = None
        self._fault = ""
        self._report: FilmReport | None = None
        self._last = self._next = 0

    @property
    def notes(self) -> Sequence[str]:
        """Why there is no film."""
        return (f"there is no film: {self._fault}",) if self._fault and self._film is None else ()

    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Start the renderer and take the first picture."""
        if self._film is not None or self._report is not None:
            return
        try:
            panel = Panel(model=self._engine.model)
            self._film = FilmWriter(self._path, [panel], self._options, wait=self._wait)
        except PliantError as error:
            self._fault = str(error)
            return
        self._take(1)
        self._last, self._next = 0, self._period_ns

    def tick(self, stamp_ns: int) -> None:
        """Take a picture when one is due."""
        if self._film is None:
            return
        if stamp_ns < self._last:  # the simulation was rewound
            self._next = stamp_ns
        self._last = stamp_ns
        if stamp_ns >= self._next:
            count = 1 + (stamp_ns - self._next) // self._period_ns
            self._next += count * self._period_ns
            self._take(count)

    def finish(self, progress: Callable[[int, int], None] | None = None) -> FilmReport:
        """Render what is left and finish the file.

        Args:
            progress: called with the numbers of pictures that are done, and of all.
        """
        if self._report is None:
            if self._film is not None:
                self._report = self._film.close(progress)
            else:
                self._report = FilmReport(path=self._path, frames=0, duration=0.0, late=0, fault=self._fault)
        return self._report

    def stop(self) -> None:
        """Finish the film; may be called twice."""
        self.threads.close()
        if self._film is not None:
            self.finish()

    def health(self) -> Mapping[str, object]:
        """Return the numbers of pictures taken and drawn."""
        if self._film is None:
            return {"pictures": 0, "drawn": 0, "last_error": self._fault}
        return {"pictures": self._film.added, "drawn": self._film.drawn, "last_error": self._fault}

    def _take(self, count: int) -> None:
        film = self._film
        if film is not None and not film.add([film.state(0, self._engine.data)], count):
            self._film_ended()

    def _film_ended(self) -> None:
        """Keep the words of a film that ended early, and take no more pictures."""
        self._fault = self.finish().fault
        self._film = None
