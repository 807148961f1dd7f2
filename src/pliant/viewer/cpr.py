"""A page in the browser to move a continuum parallel robot by hand.

One HTML page (``cpr.html``, without anything from elsewhere) and a few JSON requests, served by the standard library's
HTTP server in threads. Direct or inverse model, sliders for joints, pose and wrench, choice of the controlled freedoms,
saved configurations, rods coloured by bending strain, stability, and the reason where there is no solution.
"""

from __future__ import annotations

import json
import logging
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import BridgeError, ModelError, PliantError, nearest
from pliant.serving import ConnectionThreads
from pliant.threads import Threads
from pliant.viewer.origin import PROTECTION, check_page_host, foreign

if TYPE_CHECKING:
    from pliant.rods import ContinuumParallelRobot, RobotDescription, Solution

__all__ = ["ParallelView"]

MAX_REQUEST_BYTES = 65536
MAX_SESSIONS = 64
MAX_NUMBER = 1e6
"""Largest joint value, pose or wrench that is tried."""
MAX_CONFIGURATIONS = 200
MAX_LOADED = 16
"""Robots that are loaded from files of the page; the oldest gives way."""
POINTS = 41
_log = logging.getLogger("pliant.view")
RESTARTS = 4  # of a cold start: a page must answer soon


class ParallelView:
    """Serve the page.

    Requests come from this machine only unless another host is given; there is no password. Other sites that the user
    has open are refused (`pliant.viewer.origin`). Files are read by name from the catalogue only, besides the robot
    given here.

    Args:
        robot: name of the catalogue, file, folder, or a robot.
        port: port of the page; 0 takes a free one.
        host: address to serve on.
        store: file of the saved configurations; None takes ``pliant/cpr.json`` in the user's configuration folder.

    Example:
        >>> with ParallelView("Stewart_Gough_6PFR", port=0) as page:
        ...     print(page.url)
    """

    def __init__(
        self,
        robot: ContinuumParallelRobot | str = "Stewart_Gough_6PFR",
        *,
        port: int = 8090,
        host: str = "127.0.0.1",
        store: str | Path | None = None,
    ) -> None:
        from pliant.rods import catalogue, load_robot

        if isinstance(robot, str):
            robot = load_robot(robot)
        self.first = robot.name
        """Name of the robot that the page begins with."""
        self._robots: dict[str, ContinuumParallelRobot] = {robot.name: robot}
        self._names = [robot.name, *(name for name in catalogue() if name != robot.name)]
        self._loaded: list[str] = []
        self._port, self._host = port, host
        base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
        self._store = Path(store) if store is not None else Path(base) / "pliant" / "cpr.json"
        self._lock = threading.Lock()  # the solver keeps scratch memory: one solve at a time
        self._sessions: OrderedDict[str, tuple[str, Solution]] = OrderedDict()
        self._server: _Server | None = None
        self.threads = Threads()
        """The thread that serves the page; those of its connections come and go."""
        self._thread: threading.Thread | None = None
        self.url = ""
        """Address of the page, once started."""

    # -- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Serve in a thread.

        Raises:
            BridgeError: the port is in use, or the host is every interface.
        """
        check_page_host(self._host)
        view = self

        class Handler(_Handler):
            owner = view

        try:
            self._server = _Server((self._host, self._port), Handler)
        except (OSError, OverflowError) as error:
            raise BridgeError(
                f"the page cannot be served on {self._host}, port {self._port}: {error}; name another port",
                field="port",
            ) from None
        host = "localhost" if self._host in ("127.0.0.1", "::1") else self._host
        self.url = f"http://{host}:{self._server.server_address[1]}/"
        self.threads = Threads()
        server = self._server
        self._thread = self.threads.start("pliant-cpr-page", lambda: server.serve_forever(0.05))

    def wait(self) -> None:
        """Block until `stop` is called from elsewhere.

        Raises:
            BridgeError: the thread that serves the page died.
        """
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.5)
        for name, why in self.threads.dead.items():
            raise BridgeError(f"the page is served no longer: the thread {name} died ({why})", field="page")

    def stop(self) -> None:
        """End serving; may be called twice."""
        self.threads.close()
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
        if self._thread is not None:
            self._thread.join(5.0)
            self._thread = None

    def __enter__(self) -> ParallelView:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- requests -----------------------------------------------------------------------------------------------

    def answer(self, path: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request of the page.

        Raises:
            PliantError: the request is wrong; the page shows the message.
        """
        if path == "/api/robot":
            return self._describe(self._robot(data), _session(data))
        if path == "/api/solve":
            return self._solve(self._robot(data), data)
        if path == "/api/save":
            return self._save(self._robot(data), data)
        if path == "/api/load":
            return self._load(data)
        raise PliantError(
            f"there is no request {path!r}; valid names: /api/robot, /api/solve, /api/save, /api/load", field="path"
        )

    def _load(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Take a robot from the text of a YAML file; it is offered under its name until the page ends."""
        from pliant.documents.yaml_tree import parse_yaml
        from pliant.rods import ContinuumParallelRobot, catalogue
        from pliant.rods.loaders import describe

        text, file = data.get("text"), data.get("file", "robot.yaml")
        if not isinstance(text, str) or not isinstance(file, str) or not file.isprintable() or len(file) > 120:
            raise PliantError("text must be the text of a YAML file, and file its name", field="text")
        robot = ContinuumParallelRobot(describe(parse_yaml(text.encode(), file)))
        name = robot.name
        if not name.isprintable() or not 0 < len(name) <= 60:
            raise PliantError("the name of a robot must be 1 to 60 printable characters", field="name")
        if name == self.first or name in catalogue():
            raise PliantError(f"there is a robot {name!r} already; give the one in the file another name", field="name")
        described = self._describe(robot, _session(data))  # refuses a robot without a home equilibrium
        with self._lock:
            self._robots[name] = robot
            self._loaded = [*(n for n in self._loaded if n != name), name]
            for old in self._loaded[:-MAX_LOADED]:
                del self._robots[old]
            self._loaded = self._loaded[-MAX_LOADED:]
            self._names = [self.first, *self._loaded, *(n for n in catalogue() if n != self.first)]
        return {**described, "robots": self._names}

    def _robot(self, data: Mapping[str, Any]) -> ContinuumParallelRobot:
        from pliant.rods import load_robot

        name = data.get("robot", self.first)
        if name not in self._names:
            raise PliantError(f"there is no robot {name!r}; {nearest(str(name), self._names)}", field="robot")
        if name not in self._robots:
            self._robots[name] = load_robot(name)
        return self._robots[name]

    def _describe(self, robot: ContinuumParallelRobot, session: str) -> dict[str, Any]:
        d = robot.description
        with self._lock:
            home = robot.home()
            out = self._shape(home, 0.0)
        self._remember(session, robot, home)
        length = max(limb.rod.length for limb in d.limbs)
        joints = []
        for a, (i, j) in enumerate(d.actuators):
            joint = d.limbs[i].joints[j]
            unit = "rad" if joint.kind == "revolute" else "m"
            low, high = joint.limits or (-math.inf, math.inf)
            reach = math.pi if joint.kind == "revolute" else length
            middle = float(home.q[a])
            if joint.kind == "extension":
                low, high = max(low, 0.05 * length), min(high, 3.0 * length)
            low, high = max(low, middle - reach), min(high, middle + reach)
            name = d.limb_name(i) if len(limb_actuators(d, i)) == 1 else f"{d.limb_name(i)} {joint.kind}"
            joints.append(
                {"name": name, "title": f"{d.limb_name(i)}: {joint.kind}", "unit": unit, "low": low, "high": high}
            )
        pose = out["pose"]
        names = ["x", "y", "angle"] if robot.planar else ["x", "y", "z", "roll", "pitch", "yaw"]
        turning = {"angle", "roll", "pitch", "yaw"}
        sliders = [
            {
                "name": name,
                "unit": "rad" if name in turning else "m",
                "low": value - (1.6 if name in turning else 0.5 * length),
                "high": value + (1.6 if name in turning else 0.5 * length),
            }
            for name, value in zip(names, pose)
        ]
        # Loads that bend rods of this size visibly: a few times E I / L^2.
        load = max(limb.rod.values(0.5).bending[0] / limb.rod.length**2 for limb in d.limbs)
        scale = 10.0 ** math.ceil(math.log10(max(10.0 * load, 1e-6)))
        forces = ["fx", "fy", "mz"] if robot.planar else ["fx", "fy", "fz", "mx", "my", "mz"]
        wrench = []
        for name in forces:
            unit, most = ("N m", scale * length) if name[0] == "m" else ("N", scale)
            wrench.append({"name": name, "unit": unit, "low": -most, "high": most})
        return {
            "name": robot.name,
            "robots": self._names,
            "planar": robot.planar,
            "length": length,
            "limbs": [d.limb_name(i) for i in range(len(d.limbs))],
            "bases": [_numbers(np.asarray(limb.base)[:3, 3]) for limb in d.limbs],
            "corners": [_numbers(np.asarray(limb.distal.pose)[:3, 3]) for limb in d.limbs],
            "joints": joints,
            "poses": sliders,
            "wrenches": wrench,
            "freedoms": list(d.freedoms),
            "controlled": list(d.controlled or d.freedoms),
            "underactuated": robot.actuator_count < len(d.freedoms),
            "configurations": self._configurations(robot),
            "solution": out,
        }

    def _solve(self, robot: ContinuumParallelRobot, data: Mapping[str, Any]) -> dict[str, Any]:
        session = _session(data)
        mode = data.get("mode", "dgm")
        if mode not in ("dgm", "igm"):
            raise PliantError(f"mode is {mode!r}; {nearest(str(mode), ('dgm', 'igm'))}", field="mode")
        count = 3 if robot.planar else 6
        wrench = _vector(data, "wrench", count) if "wrench" in data else np.zeros(count)
        q = pose = None
        if mode == "dgm":
            q = _vector(data, "q", robot.actuator_count)
        else:
            pose = _vector(data, "pose", count)
        controlled = data.get("controlled")
        if controlled is not None and not (
            isinstance(controlled, list) and len(controlled) <= 6 and all(isinstance(c, str) for c in controlled)
        ):
            raise PliantError("controlled must be a list of freedoms", field="controlled")
        start = None if data.get("cold") is True else self._recall(session, robot)
        began = time.perf_counter()
        with self._lock:
            try:
                if q is not None:
                    solution = robot.solve_dgm(q, wrench, start=start, restarts=RESTARTS)
                else:
                    assert pose is not None
                    solution = robot.solve_igm(
                        robot.pose_from_numbers(pose), wrench, start=start, controlled=controlled, restarts=RESTARTS
                    )
            except PliantError as error:
                return {"ok": False, "reason": str(error), "where": error.field or ""}
            spent = time.perf_counter() - began
            out = self._shape(solution, spent)
        self._remember(session, robot, solution)
        return out

    def _shape(self, solution: Solution, spent: float) -> dict[str, Any]:
        robot = solution.robot
        d = robot.description
        lines = solution.centrelines(POINTS)
        beyond = [
            f"{d.limb_name(i)}: {q:.4g} is outside {limit[0]:g} to {limit[1]:g}"
            for (i, j), q in zip(d.actuators, solution.q)
            if (limit := d.limbs[i].joints[j].limits) is not None and not limit[0] - 1e-9 <= q <= limit[1] + 1e-9
        ]
        return {
            "ok": True,
            "q": _numbers(solution.q, 9),
            "pose": robot.pose_numbers(solution.plate_pose),
            "plate": _numbers(solution.plate_pose.ravel()),
            "wrench": _numbers(solution.wrench),
            "rods": [_numbers(line.position.ravel(), 6) for line in lines],
            "strain": [_numbers(1e3 * line.bending_strain, 4) for line in lines],
            "forces": _numbers(solution.actuator_forces(), 5),
            "residual": float(solution.residual),
            "iterations": int(solution.iterations),
            "stable": bool(solution.stable),
            "index": int(solution.morse_index),
            "free": list(solution.stability().free),
            "stiffness": float(solution.smallest_stiffness),
            "branch": solution.branch,
            "note": solution.note,
            "singular": {k: float(v) for k, v in solution.singular_values().items()},
            "milliseconds": 1e3 * spent,
            "limits": beyond,
        }

    # -- sessions and configurations -----------------------------------------------------------------------------

    def _remember(self, session: str, robot: ContinuumParallelRobot, solution: Solution) -> None:
        with self._lock:
            self._sessions[session] = (robot.name, solution)
            self._sessions.move_to_end(session)
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)

    def _recall(self, session: str, robot: ContinuumParallelRobot) -> Solution | None:
        found = self._sessions.get(session)
        if found is None or found[0] != robot.name or found[1].robot.description is not robot.description:
            return None
        return found[1]

    def _stored(self) -> dict[str, dict[str, Any]]:
        try:
            data = json.loads(self._store.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise ModelError(f"the saved configurations cannot be read: {error}", file=self._store) from None
        if not isinstance(data, dict) or not all(isinstance(v, dict) for v in data.values()):
            raise ModelError("the saved configurations must be a mapping of robots", file=self._store)
        return data

    def _configurations(self, robot: ContinuumParallelRobot) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, one in robot.description.configurations.items():
            entry: dict[str, Any] = {"own": True}
            if "q" in one:
                entry |= {"mode": "dgm", "q": list(map(float, one["q"]))}
            else:
                v = list(map(float, one["pose"]))
                entry |= {"mode": "igm", "pose": [v[0], v[1], v[5]] if robot.planar and len(v) == 6 else v}
            out[name] = entry
        for name, one in self._stored().get(robot.name, {}).items():
            out[name] = {**one, "own": False}
        return out

    def _save(self, robot: ContinuumParallelRobot, data: Mapping[str, Any]) -> dict[str, Any]:
        """Save, or delete, a named configuration."""
        name = data.get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > 60 or not name.isprintable():
            raise PliantError("the name of a configuration must be 1 to 60 printable characters", field="name")
        with self._lock:
            every = self._stored()
            mine = every.setdefault(robot.name, {})
            if data.get("delete") is True:
                if name not in mine:
                    raise PliantError(f"there is no saved configuration {name!r}; {nearest(name, mine)}", field="name")
                del mine[name]
            else:
                if len(mine) >= MAX_CONFIGURATIONS and name not in mine:
                    raise PliantError(f"at most {MAX_CONFIGURATIONS} configurations a robot", field="name")
                count = 3 if robot.planar else 6
                mode = data.get("mode")
                if mode not in ("dgm", "igm"):
                    raise PliantError(f"mode is {mode!r}; {nearest(str(mode), ('dgm', 'igm'))}", field="mode")
                mine[name] = {
                    "mode": mode,
                    "q": _vector(data, "q", robot.actuator_count).tolist(),
                    "pose": _vector(data, "pose", count).tolist(),
                    "wrench": _vector(data, "wrench", count).tolist(),
                }
            try:
                self._store.parent.mkdir(parents=True, exist_ok=True)
                fresh = self._store.with_suffix(".new")
                fresh.write_text(json.dumps(every, indent=1), encoding="utf-8")
                fresh.replace(self._store)
            except OSError as error:
                raise ModelError(f"the configuration cannot be saved: {error}", file=self._store) from None
        return {"configurations": self._configurations(robot)}


def limb_actuators(description: RobotDescription, i: int) -> list[int]:
    """Return the actuators of a limb, as indices into q."""
    return [a for a, (limb, _) in enumerate(description.actuators) if limb == i]


def _numbers(values: Any, digits: int = 7) -> list[float]:
    return np.round(np.asarray(values, dtype=float), digits).tolist()


def _vector(data: Mapping[str, Any], key: str, count: int) -> np.ndarray:
    value = data.get(key)
    if not isinstance(value, list) or len(value) != count:
        raise PliantError(f"{key} must be a list of {count} numbers", field=key)
    for v in value:
        if isinstance(v, bool) or not isinstance(v, int | float) or not -MAX_NUMBER <= v <= MAX_NUMBER:
            raise PliantError(f"{key} holds {str(v)[:40]!r}; must be finite numbers up to {MAX_NUMBER:g}", field=key)
    return np.array(value, dtype=float)


def _session(data: Mapping[str, Any]) -> str:
    session = data.get("session", "")
    if not isinstance(session, str) or len(session) > 64:
        raise PliantError("session must be a text of at most 64 characters", field="session")
    return session


class _Server(ConnectionThreads, HTTPServer):
    """Serves each connection in a thread; what a browser breaks off is no fault."""

    thread_name = "pliant-cpr-request"


class _Handler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    owner: ParallelView
    protocol_version = "HTTP/1.1"
    timeout = 20.0
    # An answer leaves in one piece and at once. In two pieces the second one waits for the browser's delayed
    # acknowledgement of the first, some 40 ms (Nagle's algorithm).
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    server_version = "pliant"

    def do_GET(self) -> None:
        if not self._local():
            return
        if self.path.split("?")[0] in ("/", "/index.html"):
            page = resources.files("pliant.viewer").joinpath("cpr.html").read_text(encoding="utf-8")
            first = json.dumps(self.owner.first).replace("<", "\\u003c")
            self._send(HTTPStatus.OK, page.replace('"__ROBOT__"', first).encode(), "text/html; charset=utf-8")
        elif self.path == "/favicon.ico":
            self._send(HTTPStatus.NO_CONTENT, b"", "image/x-icon")
        else:
            self._json(HTTPStatus.NOT_FOUND, {"ok": False, "reason": f"there is no page {self.path[:80]!r}"})

    def do_POST(self) -> None:
        if not self._local():
            return
        # Another site's page cannot send this type without asking first, which is not answered.
        if self.headers.get("Content-Type", "").split(";")[0].strip() != "application/json":
            self.close_connection = True
            self._json(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, {"ok": False, "reason": "send application/json"})
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= MAX_REQUEST_BYTES:
            self.close_connection = True
            reason = f"a request must have a length of at most {MAX_REQUEST_BYTES} bytes"
            self._json(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"ok": False, "reason": reason})
            return
        try:
            data = json.loads(self.rfile.read(length) or b"{}")
            if not isinstance(data, dict):
                raise ValueError("not a mapping")
        except (ValueError, RecursionError) as error:
            self._json(HTTPStatus.BAD_REQUEST, {"ok": False, "reason": f"no JSON mapping: {error}"})
            return
        try:
            self._json(HTTPStatus.OK, self.owner.answer(self.path, data))
        except PliantError as error:
            self._json(HTTPStatus.BAD_REQUEST, {"ok": False, "reason": str(error), "where": error.field or ""})
        except OSError:
            raise  # the browser is gone
        except Exception as error:  # a fault of ours: the page says so instead of waiting
            self.server.faults += 1  # type: ignore[attr-defined]
            _log.warning("%s: %s: %s", self.path[:80], type(error).__name__, error)
            reason = f"an internal fault: {type(error).__name__}: {error}"
            self._json(HTTPStatus.INTERNAL_SERVER_ERROR, {"ok": False, "reason": reason})

    def _local(self) -> bool:
        """Refuse what another site asks, under its own name or under one that it has pointed at this machine."""
        reason = foreign(self.headers.items(), self.owner._host, method=self.command)
        if not reason:
            return True
        self.close_connection = True
        self._json(HTTPStatus.FORBIDDEN, {"ok": False, "reason": reason})
        return False

    def _json(self, status: HTTPStatus, data: dict[str, Any]) -> None:
        self._send(status, json.dumps(data).encode(), "application/json")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        for name, value in PROTECTION.items():
            self.send_header(name, value)
        self.send_header(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
            "frame-ancestors 'none'",
        )
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a library does not print."""
