"""Types that the readers of YARP's files share: where a device was described, and how grave a finding is."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

Severity: TypeAlias = Literal["error", "warning", "info"]


class Place(TypedDict):
    """Name of a device and the place of its description: the common fields of `YarpDevice`."""

    name: str
    file: str | None
    line: int | None
