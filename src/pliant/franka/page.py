"""Franka arms on the page: sliders of joint targets and of the hand, for an arm without a client.

The cabinet's own generator moves the arm: an asynchronous joint position motion under joint impedance, whose targets
may change at any time, and which keeps the joints' limits of velocity and acceleration (the vendor's interface has it
from version 10 on). A motion ends once its target is reached. While a client is connected, the page only shows.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.errors import DeviceError
from pliant.devices.base import Sample
from pliant.franka.wire import fci
from pliant.page.controls import REQUEST_TIMEOUT, Say, guarded
from pliant.simulation.answers import answered
from pliant.simulation.bridge import SimulationControl

if TYPE_CHECKING:
    from viser import GuiApi, GuiButtonHandle, GuiEvent, GuiSliderHandle

    from pliant.franka.device.arm import FrankaArm
    from pliant.franka.device.cabinet import Motion

STEP = 0.01
"""Step of the joint sliders [rad]."""
SPEED = 0.25
"""Part of the joints' velocity limits at first."""
REACHED = 1e-5
"""Distance of the desired joint position from the target at which a motion ends [rad]."""
HAND_SPEED = 0.05
"""Speed of the change of the hand's width [m/s]."""
GRASP_FORCE = 30.0
"""Force of the button for grasping [N]."""
SUCTION, SUCTION_TIMEOUT = 75, 5000
"""Setpoint of the button for suction [10 mbar], and after which it is given up [ms]."""
MODES = ("other", "idle", "moving", "guiding", "stopped by a reflex", "user stop", "recovering from errors")
"""Names of `fci.RobotMode`, as the page shows them."""


class ArmPanel:
    """Joint targets, speed and hand of one arm, in a GUI container.

    Args:
        gui: viser's GUI.
        device: the arm.
        simulation: gets the motions.
        say: tells what was refused.
        latest: device -> its newest sample.
    """

    def __init__(
        self, gui: GuiApi, device: FrankaArm, simulation: SimulationControl, say: Say, latest: Mapping[str, Sample]
    ) -> None:
        self._device, self._simulation, self._say, self._latest = device, simulation, say, latest
        self._motion: Motion | None = None
        self._target = np.array(device.description.q, dtype=float)
        limits = device.description.arm.limits
        self._velocity = np.array(limits.velocity, dtype=float)
        self._status = gui.add_html(_line(""))
        self._joints = []
        for k, (low, high) in enumerate(zip(limits.position_min, limits.position_max)):
            low, high = np.ceil(low / STEP) * STEP, np.floor(high / STEP) * STEP
            self._joints.append(
                gui.add_slider(
                    f"joint {k + 1} [rad]", min=float(f"{low:.6g}"), max=float(f"{high:.6g}"), step=STEP,
                    initial_value=float(np.clip(round(self._target[k], 3), low, high)),
                    hint="Target of the joint; the arm's own generator moves it there",
                )
            )  # fmt: skip
        self._speed = gui.add_slider(
            "speed", min=0.05, max=1.0, step=0.05, initial_value=SPEED, hint="Part of the joints' velocity limits"
        )
        for handle in self._joints:
            handle.on_update(self._by_hand(self._move))
        self._speed.on_update(self._by_hand(self._change_speed))
        self._hand: list[GuiSliderHandle[float] | GuiButtonHandle] = []
        self._add_hand(gui)
        self._shown = ""
        self._resting = 0

    def _add_hand(self, gui: GuiApi) -> None:
        device = self._device
        if device.gripper is not None:
            largest = device.gripper.hand.max_width
            width = gui.add_slider(
                "hand width [m]", min=0.0, max=largest, step=0.001, initial_value=round(device.gripper.width, 3)
            )
            grasp = gui.add_button("grasp", hint=f"Close the hand until it holds something, with {GRASP_FORCE:g} N")
            width.on_update(self._by_hand(lambda: self._open_hand(float(width.value))))
            grasp.on_click(guarded(self._say, lambda _: self._do(self._grasp)))
            self._hand = [width, grasp]
        elif device.vacuum is not None:
            suck = gui.add_button("suck", hint="Hold what the cup touches")
            drop = gui.add_button("drop off", hint="Blow the object off")
            suck.on_click(guarded(self._say, lambda _: self._do(self._suck)))
            drop.on_click(guarded(self._say, lambda _: self._do(self._drop)))
            self._hand = [suck, drop]

    def draw(self) -> None:
        """Show what the arm does, end a motion that has reached its target, and leave the arm to a client."""
        device, client = self._device, self._device.client
        sample = self._latest.get(device.name)
        motion, mine = device.cabinet.motion, self._motion
        if mine is not None and motion is not mine:
            self._motion = None
        elif mine is not None and sample is not None:
            left = np.abs(np.asarray(sample.values["q_d"]) - self._target).max()
            self._resting = self._resting + 1 if left < REACHED else 0
            if client or self._resting > 2:
                self._simulation.submit(lambda: self._finish(mine))
        elif sample is not None and motion is None:
            self._follow(np.asarray(sample.values["q"]))
        self._tell(client, sample)

    def restart(self) -> None:
        """Forget the motion, which a reset has ended."""
        self._motion = None

    def _tell(self, client: str, sample: Sample | None) -> None:
        if client:
            text = f"{client} moves this arm; sliders are off until it leaves"
        elif sample is None:
            text = ""
        else:
            number = int(float(sample.values["robot_mode"]))
            text = MODES[number] if 0 <= number < len(MODES) else ""
            set_ = [fci.ERRORS[k].replace("_", " ") for k in np.flatnonzero(sample.values["errors"])[:3]]
            if set_:
                text += f": {', '.join(set_)}; press automatic error recovery"
        if text != self._shown:
            self._shown = text
            self._status.content = _line(text)
            for handle in (*self._joints, self._speed, *self._hand):
                handle.disabled = bool(client)

    def _follow(self, q: np.ndarray) -> None:
        """Let the sliders show where the arm is, which a client, a hand or gravity has moved."""
        for k, handle in enumerate(self._joints):
            if abs(q[k] - self._target[k]) > STEP:
                self._target[k] = q[k]
                handle.value = float(np.clip(round(float(q[k]), 3), handle.min, handle.max))

    def _by_hand(self, work: Callable[[], None]) -> Callable[[GuiEvent], None]:
        """Return a callback for what a person changed; what the page itself writes into a slider is no command."""

        def call(event: GuiEvent | None = None) -> None:
            if event is None or event.client is not None:
                work()

        return guarded(self._say, call)

    # -- what the loop's thread does ----------------------------------------------------------------------------

    def _do(self, work: Callable[[], object]) -> None:
        answered(self._simulation.submit(work), REQUEST_TIMEOUT)

    def _move(self) -> None:
        for k, handle in enumerate(self._joints):
            if not handle.min <= float(handle.value) <= handle.max:
                raise DeviceError(
                    f"joint {k + 1} is {float(handle.value):g} rad; must be from {handle.min:g} to {handle.max:g} rad",
                    field="q_c",
                )
        for k, handle in enumerate(self._joints):
            if abs(float(handle.value) - self._target[k]) > 0.5e-3:  # others keep what is between two steps
                self._target[k] = float(handle.value)
        self._do(self._go)

    def _change_speed(self) -> None:
        if self._motion is not None:
            self._do(lambda: self._go(fresh=True))

    def _go(self, *, fresh: bool = False) -> None:
        """Start a motion if none of ours runs, and give it the target."""
        device = self._free()
        running = device.cabinet.motion
        mine = running is not None and running is self._motion and not running.finishing
        if not mine or fresh:
            device.ask(
                fci.Move(
                    controller=fci.Controller.JOINT_IMPEDANCE,
                    motion_generator=fci.MotionGenerator.JOINT_POSITION,
                    use_async=True,
                    maximum_joint_velocity=tuple((float(self._speed.value) * self._velocity).tolist()),
                )
            )
            self._motion = device.cabinet.motion
        self._resting = 0
        device.inbox.put({"q_c": self._target, "finished": 0.0}, mode="joint_position")

    def _finish(self, motion: Motion) -> None:
        """End a motion that the page has started; the arm decelerates and holds."""
        device = self._device
        if device.cabinet.motion is motion and not motion.finishing:
            device.inbox.put({"q_c": self._target, "finished": 1.0}, mode="joint_position")
        self._motion = None

    def _open_hand(self, width: float) -> None:
        def move() -> None:
            self._free().ask(fci.GripperMove(width=width, speed=HAND_SPEED))

        self._do(move)

    def _grasp(self) -> None:
        wide = 2.0 * self._device.gripper.hand.max_width if self._device.gripper is not None else 0.0
        self._free().ask(
            fci.GripperGrasp(width=0.0, epsilon_inner=wide, epsilon_outer=wide, speed=HAND_SPEED, force=GRASP_FORCE)
        )

    def _suck(self) -> None:
        self._free().ask(fci.Vacuum(vacuum=SUCTION, timeout=SUCTION_TIMEOUT))

    def _drop(self) -> None:
        self._free().ask(fci.VacuumDropOff(timeout=SUCTION_TIMEOUT))

    def _free(self) -> FrankaArm:
        """Return the arm if no client has it.

        Raises:
            DeviceError: a client is connected.
        """
        device = self._device
        if device.client:
            raise DeviceError(
                f"{device.name}: {device.client} moves this arm; the page may when it has left", field="client"
            )
        motion = device.cabinet.motion
        if motion is not None and motion is not self._motion and not motion.finishing:
            raise DeviceError(
                f"{device.name}: a program moves this arm; the page may when it has stopped", field="move"
            )
        return device


def _line(text: str) -> str:
    return f'<div role="status" style="padding:0.1em 1em 0.4em;font-size:0.85em">{html.escape(text)}</div>'
