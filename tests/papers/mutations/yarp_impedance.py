"""What breaks the statements of ``yarp-impedance``."""

import dataclasses
import functools

from mutations import Mutation

from pliant.papers import yarp_impedance
from pliant.yarp import program as yarp_program
from pliant.yarp.program import Board


def boards(context, options):
    return yarp_impedance.board_statements(*yarp_impedance.count_boards(), yarp_impedance.run_described(context.output))


def interfaces(context, options):
    return yarp_impedance.interface_statements(yarp_impedance.run_interfaces(dataclasses.replace(options, speed=2.0)))


def pushes(context, options):
    run = functools.partial(yarp_impedance.run_push, options=dataclasses.replace(options, speed=2.0), hold=0.4)
    cases = (run("plain", compensated=False), run("soft", compensated=True), run("stiff", compensated=True, factor=3.0))
    return yarp_impedance.push_statements(*cases, options)


def fewer_and_slower(monkeypatch):
    whole = yarp_impedance.biped

    def without_torso(**options):
        robot = whole(**options)
        robot.devices[:] = [device for device in robot.devices if device.name != "torso"]
        return robot

    monkeypatch.setattr(yarp_impedance, "biped", without_torso)
    monkeypatch.setattr(yarp_program, "PERIOD", 0.01)
    monkeypatch.setattr(yarp_impedance, "DESCRIPTION", yarp_impedance.DESCRIPTION.replace("yarp_imu", "other"))


def other_trajectory(monkeypatch):
    """Let boards move by minimum jerk, and slower than they are asked to."""
    monkeypatch.setattr(
        yarp_impedance, "biped", lambda trajectory, **rest: yarp_program.biped(**rest, trajectory="minimum_jerk")
    )
    move = Board.move
    monkeypatch.setattr(
        Board, "move", lambda self, target, speed=None: move(self, target, 0.9 * speed if speed is not None else None)
    )


def wrong_readings(monkeypatch):
    """Let references be read 1 urad off, and torques 0.1 % too large."""
    references, rows = Board.references, yarp_impedance._rows
    monkeypatch.setattr(Board, "references", lambda self: references(self) + 1e-6)
    monkeypatch.setattr(
        yarp_impedance, "_rows", lambda states, name: (1.001 if name == "torque" else 1.0) * rows(states, name)
    )


def never_compliant(monkeypatch):
    """Leave the interaction stiff, and throw the arm before the last change of mode."""
    modes = Board.modes
    monkeypatch.setattr(Board, "modes", lambda self, control, interaction="stif": modes(self, control))
    monkeypatch.setattr(yarp_impedance, "TORQUES", (15.0, 15.0, 15.0, 15.0))


def wrong_model(monkeypatch):
    """Let the program know half of gravity, and one stiffness only."""
    monkeypatch.setattr(yarp_impedance, "GRAVITY", 4.9)
    monkeypatch.setattr(Board, "set_impedance", functools.partialmethod(_one_impedance, Board.set_impedance))


def _one_impedance(self, send, stiffness, damping):
    send(self, 40.0, 3.0)


MUTATIONS = [
    Mutation(
        experiment="yarp-impedance",
        name="a robot without a torso's board, states every 10 ms, a description without inertial unit",
        patch=fewer_and_slower,
        run=boards,
        turns=(
            "described plugins that answer at their ports",
            "axes of all boards",
            "control boards at the name server",
            "states sent a step",
        ),
    ),
    Mutation(
        experiment="yarp-impedance",
        name="minimum jerk at nine tenths of the speed",
        patch=other_trajectory,
        run=interfaces,
        turns=(
            "references off a straight line in time",
            "steps until the move is done less distance over speed",
            "speed of the references over the limit of speed",
        ),
    ),
    Mutation(
        experiment="yarp-impedance",
        name="references 1 urad off, torques 0.1 % off",
        patch=wrong_readings,
        run=interfaces,
        turns=(
            "references less what was streamed",
            "measured less commanded torques",
            "measured torques less equation 1",
            "torque of the joint in torque mode less that asked for, beside other modes",
        ),
    ),
    Mutation(
        experiment="yarp-impedance",
        name="the interaction stays stiff, the arm is thrown",
        patch=never_compliant,
        run=interfaces,
        turns=(
            "every mode is read back",
            "joints with the controller asked for",
            "motion of a joint in the 20 ms after a change",
        ),
    ),
    Mutation(
        experiment="yarp-impedance",
        name="half of gravity is compensated, one stiffness for all",
        patch=wrong_model,
        run=pushes,
        turns=(
            "sag with compensation over sag without",
            "sag without compensation less gravity torque over stiffness",
            "deflection by the push less its joint torques over stiffness",
            "deflection at a stiffness over that at three times the stiffness",
            "distance from q_d after the push",
        ),
    ),
]
