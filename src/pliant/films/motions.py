"""Films of motions, side by side, and of recordings."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.base.numerics import Array
from pliant.films.film import FilmOptions, FilmReport, FilmWriter, Panel
from pliant.recording.motion import Motion, rows_at
from pliant.recording.recorded_motion import recorded_motion

if TYPE_CHECKING:
    import mujoco

    from pliant.recording import Recording


def film_motions(
    path: str | Path,
    motions: Sequence[Motion],
    options: FilmOptions | None = None,
    *,
    clock: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> FilmReport:
    """Film motions side by side, from their first poses on; the film ends with the longest one.

    Args:
        path: file, .mp4 or .gif.
        motions: from left to right.
        options: size of each, frame rate, speed, camera.
        clock: write the time above the pictures.
        progress: called with the numbers of pictures that are done, and of all.

    Raises:
        PliantError: wrong options, no such camera.
        MissingDependency: no encoder, or no graphics library that works.
    """
    options = options or FilmOptions()
    period, longest = options.speed / options.fps, max(motion.duration for motion in motions)
    rows = [rows_at(motion.time, period, longest) for motion in motions]
    # Payloads change the models.
    models = [motion.model if motion.acting is None else copy.copy(motion.model) for motion in motions]
    panels = [Panel(model=model, title=motion.title, color=motion.color) for model, motion in zip(models, motions)]
    film = FilmWriter(path, panels, options, clock=clock)
    for k in range(len(rows[0])):
        if progress is not None:
            progress(k, len(rows[0]))
        states = []
        for i, motion in enumerate(motions):
            row, wrenches, contacts = rows[i][k], None, None
            if motion.acting is not None:
                loads, wrenches, contacts = motion.acting(float(motion.time[row]))
                _load(models[i], motion.model, loads)
            states.append(film.pose(i, motion.poses[row], wrenches, contacts))
        if not film.add(states):
            break
    return film.close(progress)


def _load(model: mujoco.MjModel, bare: mujoco.MjModel, loads: Mapping[str, tuple[float, Array]]) -> None:
    """Put payloads on the bodies of a model: masses and centres of mass, which are what a film shows of them."""
    import mujoco

    model.body_mass[:], model.body_ipos[:] = bare.body_mass, bare.body_ipos
    for name, (mass, place) in loads.items():
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        if body > 0:
            whole = float(bare.body_mass[body]) + mass
            model.body_ipos[body] = (bare.body_mass[body] * bare.body_ipos[body] + mass * place) / whole
            model.body_mass[body] = whole


def film_recording(
    recording: Recording,
    model: mujoco.MjModel,
    path: str | Path,
    options: FilmOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[FilmReport, tuple[str, ...]]:
    """Film a recording.

    Args:
        recording: the recording.
        model: the compiled robot that was recorded.
        path: file, .mp4 or .gif.
        options: size, frame rate, speed, camera.
        progress: called with the numbers of pictures that are done, and of all.

    Returns:
        (report, joints that were not recorded).

    Raises:
        RecordingError: no position of a joint of this model was recorded.
        PliantError: wrong options, no renderer.
    """
    options = options or FilmOptions()
    options = replace(options, contacts=recording.has_contacts)
    motion, missing = recorded_motion(recording, model, options.speed / options.fps)
    return film_motions(path, [motion], options, progress=progress), missing
