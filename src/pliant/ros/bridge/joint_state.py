"""sensor_msgs/JointState from the fields of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pliant.ros.bridge.publication import Publication, picked

__all__ = ["joint_state"]


def joint_state(topic: str, names: Sequence[str], fields: Sequence[str], *, size: int, **options: Any) -> Publication:
    """Return the publication of a topic of joint states.

    Args:
        topic: full name.
        names: names of the joints; may be empty, as the toolbox's motor states have none.
        fields: fields of the sample for position [rad], velocity [rad/s], effort [N m]; those left out are not sent.
        size: number of elements of each field.
        options: ``every``, ``stamp``, ``when`` or ``numbers`` of `Publication`.
    """
    paths = ("position", "velocity", "effort")[: len(fields)]
    values = {"name": list(names), **{path: [0.0] * size for path in paths}}
    given = {"numbers": picked(*fields), **options}
    return Publication(topic=topic, type="sensor_msgs/JointState", paths=paths, values=values, **given)
