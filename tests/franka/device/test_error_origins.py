"""Every error of the interface has one origin, and a client's motion raises no error of another origin."""

import ast
from pathlib import Path

import numpy as np
import pytest
from franka_plant import Plant

import pliant.franka.device
from pliant.franka.device.cabinet import Cabinet
from pliant.franka.device.settings import CHECKS, ERROR_ORIGINS, Settings
from pliant.franka.robots.build import ArmMount
from pliant.franka.robots.parameters import EE_OF_HAND, FER, FR3, FRANKA_HAND
from pliant.franka.wire import fci

QUIET = fci.SetCollisionBehavior(
    **{name: (1e6,) * (7 if "torque" in name else 6) for name in fci.SetCollisionBehavior.__dataclass_fields__}
)
MODES = {  # controller, generator, place of its numbers in the command
    "position": (0, 0, slice(0, 7)),
    "velocity": (0, 1, slice(7, 14)),
    "pose": (1, 2, slice(14, 30)),
    "twist": (1, 3, slice(30, 36)),
    "torque": (2, 4, None),
}


def named_in_code():
    """Return the errors that the code of the cabinet names, as ``ERROR.joint_reflex``."""
    names = set()
    for file in Path(pliant.franka.device.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "ERROR":
                names.add(node.attr)
    return names


def test_every_error_has_one_origin_and_the_checks_are_those_that_are_simulated():
    assert set(ERROR_ORIGINS) == set(fci.ERRORS)
    assert {name for name, origin in ERROR_ORIGINS.items() if origin in ("client", "guiding")} == CHECKS


def test_the_cabinet_raises_every_check_and_nothing_else():
    assert named_in_code() == CHECKS


def test_an_error_of_the_desk_is_no_check_of_the_cabinet():
    with pytest.raises(Exception, match="no check 'start_elbow_sign_inconsistent'"):
        Settings().without("start_elbow_sign_inconsistent")


def play(kind, numbers, *, arm=FER, elbow=False, cycles=120, tau=None):
    """Play a motion of a client until it raises errors, and return them; numbers(k, good) gives a command, or None."""
    mount = ArmMount(arm=arm)
    plant = Plant((mount,), friction=False)
    body = plant.arms[0]
    cabinet = Cabinet(
        mount.arm,
        settings=Settings(friction_compensation=False, collision=QUIET),
        gravity=body.gravity,
        rotor_inertia=body.rotor_inertia,
        q=mount.q,
        end_effector=FRANKA_HAND,
        F_T_NE=EE_OF_HAND,
    )
    state = cabinet.observe(body.read())
    good = np.zeros(38)
    good[:7], good[14:30], good[36:] = state.q_d, state.O_T_EE_c, state.elbow_c
    controller, generator, _ = MODES[kind]
    path = (10.0, 3.12, 6.2832)
    cabinet.request(fci.Move(controller=controller, motion_generator=generator, maximum_path_deviation=path), 7)
    assert cabinet.take_answers()[-1].status == "started"
    for k in range(cycles):
        motion = numbers(k, good.copy())
        given = fci.RobotCommand(
            message_id=state.message_id,
            motion=good if motion is None else motion,
            tau_J_d=np.zeros(7) if tau is None else tau(k),
            valid_elbow=elbow,
            motion_generation_finished=False,
            torque_command_finished=False,
        )
        body.write(cabinet.control(None if motion is None else given))
        plant.step()
        state = cabinet.observe(body.read())
        if state.error_names():
            break
    return state.error_names()


def motion(kind, seed, arm=FER):
    """Play a motion that goes wrong at a random command, in a random way; return the errors."""
    rng = np.random.default_rng(seed)
    size, at, silent = 10.0 ** rng.uniform(-5, 0.5), int(rng.integers(0, 6)), rng.random() < 0.1
    elbow = kind in ("pose", "twist") and rng.random() < 0.6
    noise, torque, turned = rng.normal(size=16), size * rng.normal(size=7), elbow and rng.random() < 0.5
    place = MODES[kind][2]

    def numbers(k, values):
        if k < at:
            return values
        if silent:
            return None
        if turned:
            values[36:] = values[36] + rng.choice([0.0, size]), -values[37]
        elif place is not None:
            values[place] += size * noise[: values[place].size]
        return values

    return play(kind, numbers, arm=arm, elbow=elbow, tau=lambda k: torque if k >= at else np.zeros(7))


def sweep(seeds):
    found = {}
    for seed in seeds:
        for kind in MODES:
            for name in motion(kind, seed, FER if seed % 2 else FR3):
                found.setdefault(name, (kind, seed))
    return found


def check(found):
    wrong = {name: at for name, at in found.items() if ERROR_ORIGINS[name] != "client"}
    assert not wrong, f"errors that no motion of a client raises on a real arm: {wrong}"


def test_random_motions_of_a_client_raise_errors_of_a_client_only():
    found = sweep(range(10))
    check(found)
    assert len(found) >= 8, found  # the sweep is not empty


@pytest.mark.nightly
def test_many_random_motions_of_a_client_raise_errors_of_a_client_only():
    found = sweep(range(100, 400))
    check(found)
    assert len(found) >= 12, found


@pytest.mark.parametrize("at", [0, 4])
def test_an_elbow_of_the_other_sign_is_refused_with_the_motion_generators_error(at):
    def turned(k, values):
        values[37] *= -1.0 if k >= at else 1.0
        return values

    assert play("pose", turned, elbow=True) == ["cartesian_motion_generator_elbow_sign_inconsistent"]
