"""Wings: subjects beside the core, each declared once and found through the entry-point group ``pliant.wings``.

A wing is a package with a module ``wing.py`` that holds one `Wing`. Everything in it is a place, "module:name", that is
imported when it is used. The core asks this module what the wings offer; it names none of them. pliant's own wings and
those of other packages are declared and found in the same way.

A wing that cannot be imported, or an entry that another wing has declared already, is left out with one warning that
names the wing, the entry and a remedy; all other wings work.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.metadata
import logging
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pliant.base.errors import PliantError

GROUP = "pliant.wings"
"""Entry-point group in which packages declare their wings."""

_log = logging.getLogger("pliant.wings")
_PLACE = re.compile(r"[A-Za-z_]\w*(\.\w+)*(:[A-Za-z_]\w*)?")


@dataclass(frozen=True, slots=True)
class BridgeEntry:
    """Declaration of a bridge."""

    summary: str
    """One sentence for `pliant list`."""
    factory: Any
    """The function, or ``module:function``; it takes the robot and one frozen dataclass of options
    (`pliant.base.options`), and returns a Bridge. Keyword arguments with defaults are read as such a dataclass."""
    needs: tuple[str, ...] = ()
    """Modules of optional packages that it cannot run without."""
    probe: str = ""
    """Function, "module:function", that looks at what is served with these options, for ``pliant doctor --bridge``: it
    yields `pliant.base.finding.Finding`; "" where there is none."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A thing with options in a table of `pliant list`."""

    name: str
    """Its name."""
    summary: str
    """One sentence."""
    options: type
    """Frozen dataclass of its options (`pliant.base.options`)."""
    written: str
    """How its options are written, such as "--set robot.KEY=VALUE"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Files to start from. In their names and texts, ``$name`` is what the user typed, ``$module`` the same as a Python
    name, and ``$Class`` the same as the name of a class."""

    package: str
    """Package whose folder ``templates`` has the texts."""
    files: Mapping[str, str]
    """File to write -> its text in that folder."""
    steps: tuple[str, ...]
    """Commands to type next."""


_OF_THE_WING = ("name", "summary", "extra", "builds_on")
"""Fields of a wing that hold no entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wing:
    """Declaration of everything that a wing offers. Places are "module:name", or "module" where said."""

    name: str
    """Name of the wing, such as "yarp"."""
    summary: str
    """One sentence: what a user gets from it."""
    extra: str = ""
    """Extra of the distribution that installs what the wing needs, such as "vision"; "" if it needs nothing more."""
    builds_on: tuple[str, ...] = ()
    """Names of wings that it cannot work without; where one is missing, the whole wing is left out."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Commands of ``pliant``, by name: functions or groups of cyclopts."""
    subcommands: Mapping[str, str] = field(default_factory=dict)
    """Commands in a group of another wing, by "GROUP NAME": functions of cyclopts."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Completion of the arguments of these commands, by the command: functions that return (words, files), a list of
    words and whether files fit too."""
    exports: Mapping[str, str] = field(default_factory=dict)
    """Formats of ``pliant export`` for recordings, by name: functions of (source, output, namespace, overwrite, json)
    that return the exit code."""
    robot_exports: Mapping[str, str] = field(default_factory=dict)
    """Formats of ``pliant export`` for robots, by name: the same functions with the loaded robot in front."""
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Files that ``pliant run`` and ``pliant replay`` make of a run or a recording, by the option that names the file:
    `pliant.simulation.outputs.OutputOptions`."""
    additions: Mapping[str, str] = field(default_factory=dict)
    """Options of ``pliant run`` and ``pliant compare`` that add to the robot or to the simulation, by the option:
    `pliant.simulation.additions.AdditionOptions`."""
    monitors: Mapping[str, str] = field(default_factory=dict)
    """What ``pliant run`` adds up over the steps and prints at the end, by the name that ``--json`` gives it: functions
    of the engine that return a `pliant.engine.monitor.Monitor`, None for a model that it does not fit."""
    bridges: Mapping[str, BridgeEntry] = field(default_factory=dict)
    """Bridges by name."""
    robots: Mapping[str, str] = field(default_factory=dict)
    """Catalogue robots by name: modules whose ROBOT or ROBOTS has them, or "module:name" of a `CatalogueRobot` or of a
    function that returns a `Robot`."""
    scenarios: Mapping[str, str] = field(default_factory=dict)
    """Scenarios of its robots, by name: packages whose folder ``scenarios`` has them, as NAME.yaml."""
    devices: tuple[str, ...] = ()
    """Modules that register descriptions and their devices (`sensor_kind`, `device_for`) when they are imported;
    "module:Description" for the device of a description of the core."""
    formats: tuple[str, ...] = ()
    """Formats of robot files, tried before those of the core: `pliant.formats.source.Format`."""
    tags: tuple[str, ...] = ()
    """Readers of plugin tags in URDF and SDF: `pliant.formats.source.TagReader`."""
    blocks: Mapping[str, str] = field(default_factory=dict)
    """Blocks of options that `pliant.load`, a YAML file or ``--set BLOCK.KEY=VALUE`` gives a robot, by name:
    `pliant.formats.source.Block`."""
    comparisons: tuple[str, ...] = ()
    """Functions of a robot that simulate it and return how it differs from theory, as a list of
    `pliant.model.problem.Problem`, None for a robot without that theory; ``pliant check --simulate`` calls them."""
    findings: tuple[str, ...] = ()
    """Functions of a robot that return what ``pliant check`` prints of it beside `Robot.check`, which is too slow to be
    computed before each run: a list of `pliant.model.problem.Problem`, None for a robot without it."""
    recordings: tuple[str, ...] = ()
    """Formats of recordings that other programs write: `pliant.recording.foreign.RecordingFormat`."""
    listeners: Mapping[str, BridgeEntry] = field(default_factory=dict)
    """What listens to a robot that runs elsewhere, by the name of an option: functions of the robot and the options
    that return a `pliant.recording.live.Listener`."""
    logs: Mapping[str, BridgeEntry] = field(default_factory=dict)
    """Logs of robots that a wing compares with dynamics of its own, by the name of an option: functions of the robot
    and the options that return worlds with ``compare``."""
    viewer: str = ""
    """The pages that show a run, a robot and a recording: `pliant.simulation.viewer.Viewer`."""
    panels: tuple[str, ...] = ()
    """Panels that a viewer shows for a robot that has what they need: see the viewer's own protocol."""
    drawings: tuple[str, ...] = ()
    """Shapes that films and pages draw beside MuJoCo's: `pliant.recording.drawing.Drawing`."""
    messages: Mapping[str, str] = field(default_factory=dict)
    """Modules with definitions of message types, by the bridge that they are for: texts by type (TEXTS), and pairs
    of request and response by service (SERVICES); TEXTS_1, SERVICES_2 and so on for one generation only."""
    interfaces: Mapping[str, str] = field(default_factory=dict)
    """Functions that serve this wing's devices on bridges of other wings, by "BRIDGE/SIGNATURE":
    `pliant.simulation.interfaces`."""
    detectors: Mapping[str, str] = field(default_factory=dict)
    """Detectors in camera images by what they detect, such as "tags"."""
    batches: tuple[str, ...] = ()
    """Devices beside the cores that run batches of worlds, as sweeps take them: entries with the ``devices`` and the
    ``target``, the functions that simulate on them."""
    controllers: Mapping[str, str] = field(default_factory=dict)
    """Ways in which a policy drives a robot, by the name of a bridge."""
    commanders: Mapping[str, str] = field(default_factory=dict)
    """What holds the commands of a device as a program on the robot does, by the device's signature: functions of the
    simulation, the device and the channels (`pliant.simulation.channels`); see the protocol of what asks for them."""
    laws: Mapping[str, str] = field(default_factory=dict)
    """Laws by the name that `pliant.laws.law` registers them under: the classes."""
    derivation: str = ""
    """What gives a law with only an energy its other kernels: a function of the energy, the names of the parameters and
    a label that returns the kernels by name, as `pliant.laws.base.law` asks for them."""
    lists: Mapping[str, str] = field(default_factory=dict)
    """Further tables of `pliant list`, by title: functions that return a list of `Listed`."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """Kinds of `pliant new`, by name: `Template`."""
    experiments: tuple[str, ...] = ()
    """Packages whose modules register experiments."""
    benchmarks: tuple[str, ...] = ()
    """Programs in the folder ``benchmarks`` of the repository that measure this wing."""

    def __post_init__(self) -> None:
        for entry in dataclasses.fields(self):
            if entry.name in (*_OF_THE_WING, "benchmarks"):
                continue
            for key, place in _entries(getattr(self, entry.name)):
                if isinstance(place, BridgeEntry):
                    place = place.factory
                if isinstance(place, str) and not _PLACE.fullmatch(place):
                    raise PliantError(
                        f"the wing {self.name!r}: {entry.name}{f'[{key!r}]' if key else ''} is {place!r}; "
                        "must be module:name",
                        field=entry.name,
                    )


KINDS = tuple(entry.name for entry in dataclasses.fields(Wing) if entry.name not in _OF_THE_WING)
"""Fields of a wing that hold entries."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One entry of a wing's declaration."""

    wing: Wing
    """The wing."""
    kind: str
    """The field of `Wing`."""
    key: str
    """Name of the entry; "" in fields without names."""
    value: Any
    """The place, or the `BridgeEntry`."""

    def load(self) -> Any:
        """Import what the entry names.

        Raises:
            PliantError: it cannot be imported; the message names wing, entry and remedy.
        """
        place = self.value.factory if isinstance(self.value, BridgeEntry) else self.value
        return resolve(place, f"the wing {self.wing.name!r}: {self.kind} {self.key or self.value!r}", self.wing)


def resolve(place: str, what: str = "", wing: Wing | None = None) -> Any:
    """Import "module:name", or "module".

    Args:
        place: the place.
        what: subject of the message if it fails.
        wing: the wing that declares it, for the remedy.

    Raises:
        PliantError: there is no such module or name. Errors of pliant, such as `MissingDependency`, pass unchanged.
    """
    module, _, name = place.partition(":")
    try:
        found = importlib.import_module(module)
        return getattr(found, name) if name else found
    except PliantError:
        raise
    except (ImportError, AttributeError) as error:
        remedy = f'; type: pip install "pliant[{wing.extra}]"' if wing is not None and wing.extra else ""
        raise PliantError(f"{what or place} cannot be imported: {error}{remedy}", field=place) from error


def _entries(value: Any) -> Iterator[tuple[str, object]]:
    """Yield (key, place) of a field of a wing."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, str):
        if value:
            yield "", value
    else:
        yield from (("", place) for place in value)


class Wings:
    """The wings of a set of declarations, with the entries that each may have.

    Args:
        found: name of the entry point and what it gives: a `Wing`, or the error that it raised; pliant's own first.
    """

    _NAMED = (
        "commands",
        "subcommands",
        "arguments",
        "exports",
        "robot_exports",
        "outputs",
        "additions",
        "monitors",
        "bridges",
        "robots",
        "laws",
        "scenarios",
        "blocks",
        "interfaces",
        "listeners",
        "logs",
        "detectors",
        "controllers",
        "lists",
        "templates",
    )

    def __init__(self, found: Mapping[str, Wing | Exception]) -> None:
        self.wings: dict[str, Wing] = {}
        self.faults: list[str] = []
        """One line for each wing or entry that is left out."""
        self._offers: dict[str, list[Offer]] = {kind: [] for kind in KINDS}
        named: dict[tuple[str, str], Wing] = {}
        for name, wing in found.items():
            if not isinstance(wing, Wing):
                problem = wing if isinstance(wing, Exception) else f"it is a {type(wing).__name__}; must be a Wing"
                self.faults.append(f"the wing {name!r} cannot be loaded: {problem}; update or uninstall its package")
                continue
            if wing.name in self.wings:
                self.faults.append(f"the wing {wing.name!r} is declared twice; uninstall one of its packages")
                continue
            self.wings[wing.name] = wing
        self._leave_out_what_builds_on_missing_wings()
        groups = {command for wing in self.wings.values() for command in wing.commands}
        for wing in self.wings.values():
            for kind in KINDS:
                for key, value in _entries(getattr(wing, kind)):
                    other = named.get((kind, key)) if kind in self._NAMED else None
                    if other is not None:
                        self.faults.append(
                            f"the wing {wing.name!r} declares {kind} {key!r}, which the wing {other.name!r} has "
                            "declared; uninstall one of them"
                        )
                        continue
                    group = key.partition(" ")[0]
                    if kind == "subcommands" and group not in groups:
                        self.faults.append(
                            f"the wing {wing.name!r} declares subcommands {key!r}, and no wing has the group "
                            f"{group!r}; install the wing that has it, or uninstall {wing.name!r}"
                        )
                        continue
                    named[kind, key] = wing
                    self._offers[kind].append(Offer(wing, kind, key, value))

    def _leave_out_what_builds_on_missing_wings(self) -> None:
        while missing := {
            wing.name: other for wing in self.wings.values() for other in wing.builds_on if other not in self.wings
        }:
            for name, other in missing.items():
                del self.wings[name]
                self.faults.append(
                    f"the wing {name!r} builds on the wing {other!r}, which is missing; install it, or "
                    f"uninstall {name!r}"
                )

    def offers(self, kind: str) -> list[Offer]:
        """Return the entries of one field of all wings."""
        return self._offers[kind]


@functools.cache
def _installed(path: tuple[str, ...]) -> Wings:
    """Return the wings of installed packages; reading the entry points of all packages takes about 10 ms."""
    found: dict[str, Wing | Exception] = {}
    points = sorted(
        importlib.metadata.entry_points(group=GROUP), key=lambda p: (not p.value.startswith("pliant."), p.name)
    )
    for point in points:
        try:
            found.setdefault(point.name, point.load())
        except Exception as error:  # whatever the import of another's package raises must not end the program
            found.setdefault(point.name, error)
    wings = Wings(found)
    for fault in wings.faults:
        _log.warning("%s", fault)
    return wings


_DECLARED: dict[str, Wing] = {}


def declare(wing: Wing) -> Wing:
    """Declare a wing of this process, such as one of a module of ``--import``; return it.

    Raises:
        PliantError: an installed wing has this name, or one of its entries.
    """
    installed = _installed(tuple(sys.path)).wings
    faults = Wings({**installed, **_DECLARED, wing.name: wing}).faults
    if wing.name in installed:
        faults = [f"the wing {wing.name!r} is declared twice; give yours another name"]
    if faults:
        raise PliantError("\n".join(faults), field=wing.name)
    _DECLARED[wing.name] = wing
    _with_declared.cache_clear()
    return wing


def withdraw(name: str) -> None:
    """Take back what `declare` has declared."""
    _DECLARED.pop(name, None)
    _with_declared.cache_clear()


@functools.cache
def _with_declared(path: tuple[str, ...]) -> Wings:
    found = _installed(path)
    return Wings({**found.wings, **_DECLARED}) if _DECLARED else found


def find_wings() -> dict[str, Wing]:
    """Return the wings by name: pliant's own, those of other packages, and those that `declare` has declared."""
    return _with_declared(tuple(sys.path)).wings


def wing_faults() -> list[str]:
    """Return one line for each wing or entry that is left out, with the remedy."""
    return list(_installed(tuple(sys.path)).faults)


def offers(kind: str) -> list[Offer]:
    """Return the entries of one field of `Wing`, of all wings."""
    return _with_declared(tuple(sys.path)).offers(kind)


def offer(kind: str, key: str) -> Offer | None:
    """Return the entry of that name in one field of `Wing`, None if no wing has it."""
    return next((found for found in offers(kind) if found.key == key), None)
