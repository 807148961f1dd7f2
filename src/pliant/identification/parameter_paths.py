"""Paths of the numbers that a fit finds: those of an actuator, and those of the sensors that measured it."""

from __future__ import annotations

_SENSORS = {"position": "rad", "torque": "N m", "motor_1_position": "rad", "motor_2_position": "rad"}
"""Signal of a sensor -> its unit; "position" is that of the link."""

SENSOR_PARAMETERS: dict[str, tuple[str, str]] = {
    f"{signal}_{kind}": (unit if kind == "offset" else "s" if kind == "delay" else "", kind)
    for signal, unit in _SENSORS.items()
    for kind in ("offset", "gain", "delay")
}
"""Parameter of a sensor -> unit and kind: measured(t) = gain true(t - delay) + offset. It belongs to the measurement
and not to the actuator; it has either sign."""


def target_paths(path: str) -> list[str]:
    """Expand a path: "motor.x" refers to both motors, "pid.x" to both controllers."""
    head, _, rest = path.partition(".")
    if head in ("motor", "pid") and rest:
        return [f"{head}_1.{rest}", f"{head}_2.{rest}"]
    return [path]
