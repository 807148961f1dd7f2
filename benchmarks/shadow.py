"""Change one parameter of a joint by a fifth while it is followed, and see which one `pliant shadow` names, and when.

    python benchmarks/shadow.py              20 changes: springs, friction, payloads and delays of three kinds of joints
    python benchmarks/shadow.py --case sea   one kind
    python benchmarks/shadow.py --json       for programs

The joint moves by random sines, as the joints of tests/shadow/test_drift.py do: simulated with a step of 40 us,
position sensors of 14 bits with a noise of 0.5 mrad, 100 samples a second. At 4 s the parameter changes and nothing
tells of it. The shadow hears message by message and judges windows of 6 s that overlap by half. The first window after
the change counts: it is right if the changed parameter is the one that it names, "alone" if it says of no other that
it could be this one as well; the time is that from the change to the end of the window. The promise: 18 of 20 right
within 60 s.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import pliant
from pliant.shadow import LiveShadow

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from shadow_logs import described, log_of, messages_of

CHANGED_AT = 4.0
"""When the parameter changes [s]."""
DURATION = 11.0
"""Length of a log: a window that holds the change, and one after it [s]."""
WINDOW = 6.0
"""Length of a window [s]."""
LIMIT, WANTED = 60.0, 18
ROBOTS = {
    "sea": ("sea-1dof", {"actuator.k": 10.0}, ["joint.k"]),
    "qbmove": ("qbmove-1dof", {}, ["joint.k1", "joint.k2"]),
    "awas2": ("awas2-1dof", {}, ["joint.Ks"]),
}
PARAMETERS = {
    "joint friction": ["joint.link_friction.torque"],
    "link load": ["link.mass"],
    "joint delay": ["joint.command_delay"],
}


@dataclass
class Case:
    """One silent change."""

    robot: str
    parameter: str
    factor: float
    named: tuple[str, ...]
    """What the window named: the parameter, then those that it cannot tell from it."""
    verdict: str
    seconds: float
    """From the change to the end of the window."""
    processor_s: float

    @property
    def right(self) -> bool:
        return self.named[:1] == (self.parameter,) and 0.0 < self.seconds <= LIMIT

    @property
    def alone(self) -> bool:
        return self.right and len(self.named) == 1


def changes() -> list[tuple[str, str, float]]:
    """Return the changes: all of two kinds of joints up and down, those of the third up or down."""
    names = ["joint spring", *PARAMETERS]
    found = [(robot, name, factor) for robot in ("sea", "qbmove") for name in names for factor in (0.8, 1.2)]
    return found + [("awas2", name, (0.8, 1.2)[k % 2]) for k, name in enumerate(names)]


def value_of(robot: pliant.Robot, path: str) -> float:
    """Return a parameter as described."""
    owner, _, name = path.partition(".")
    if owner == "link":
        return float(robot.spec.body(owner).mass)
    found = robot.actuators[owner]
    for part in ("law." + name if name[0] in "kK" else name).split("."):
        found = getattr(found, part)
    return float(found)


def follow(kind: str, name: str, factor: float, seed: int) -> Case:
    """Follow a joint whose parameter changes."""
    model, settings, spring = ROBOTS[kind]
    robot = described(model, **{"actuator.link_friction.torque": 0.05} | settings)
    paths = PARAMETERS.get(name, spring)
    changed = {path: factor * value_of(robot, path) for path in paths}
    begin = time.process_time()
    messages = messages_of(log_of(robot, seed, duration=DURATION, changes=changed, at=CHANGED_AT))
    shadow = LiveShadow(robot, window=WINDOW, commands="held", step=1e-4)
    found = None
    for k in range(0, len(messages), 40):
        shadow.hear(messages[k : k + 40])
        found = next((w for w in shadow.advance() if w.begin >= CHANGED_AT - 1e-6), found)
    spent = time.process_time() - begin
    if found is None:
        return Case(kind, name, factor, (), "no window", float("nan"), spent)
    return Case(kind, name, factor, found.drifted, found.verdict, found.end - CHANGED_AT, spent)


def main() -> int:
    """Print the table; return 1 if fewer than 18 of 20 are right."""
    parser = argparse.ArgumentParser(description="Which changed parameter the shadow names, and when.")
    parser.add_argument("--case", choices=list(ROBOTS), help="one kind of joint")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    arguments = parser.parse_args()
    cases = []
    if not arguments.json:
        print(f"{'joint':8}{'changed':16}{'by':>5}  {'right':6}{'after':>8}  what the shadow said")
    for k, (kind, name, factor) in enumerate(changes()):
        if arguments.case not in (None, kind):
            continue
        case = follow(kind, name, factor, seed=100 + k)
        cases.append(case)
        if not arguments.json:
            right = ("alone" if case.alone else "yes") if case.right else "NO"
            print(f"{kind:8}{name:16}{factor:5.1f}  {right:6}{case.seconds:6.1f} s  {case.verdict}", flush=True)
    right = sum(case.right for case in cases)
    wanted = WANTED if arguments.case is None else round(0.9 * len(cases))
    if arguments.json:
        rows = [asdict(case) | {"right": case.right, "alone": case.alone} for case in cases]
        print(json.dumps({"right": right, "of": len(cases), "cases": rows}))
    else:
        alone = sum(case.alone for case in cases)
        print(f"{right} of {len(cases)} right within {LIMIT:g} s (promised: {wanted}), {alone} of them alone")
    return 0 if right >= wanted else 1


if __name__ == "__main__":
    sys.exit(main())
