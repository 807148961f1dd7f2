"""How fast the page is: start, slider to picture, pictures a second, and what it costs a step.

    python benchmarks/page.py [ROBOT] [SECONDS] [WIDTHxHEIGHT]

Needs Chromium, which is started as it runs without a graphics card: it draws in software, on the cores that simulate.
The processor time of a picture (Linux only) depends less on other programs than the pictures a second.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import threading
import time
from pathlib import Path
from typing import Any

from pliant.devices import make_devices
from pliant.devices.compliant_joint import CompliantJoint
from pliant.engine import MujocoEngine
from pliant.page import PageView
from pliant.robots.loading import load
from pliant.simulation import Simulation, paced

HOOK = """
window.draws = []; window.moves = [];
for (const type of [WebGLRenderingContext, WebGL2RenderingContext]) {
  for (const name of ['drawElements', 'drawArrays', 'drawElementsInstanced']) {
    const old = type.prototype[name];
    type.prototype[name] = function (...a) {
      const t = performance.now(), d = window.draws;
      if (!d.length || t - d[d.length - 1] > 4) d.push(t);
      return old.apply(this, a);
    };
  }
}
addEventListener('mousemove', e => { if (e.buttons) window.moves.push(performance.now()); }, true);
"""
SLIDER = "(() => { const s = document.querySelectorAll('[role=slider]')[0].getBoundingClientRect(); " \
         "return [s.x + s.width / 2, s.y + s.height / 2]; })()"  # fmt: skip

CANVAS = (
    "[...document.querySelectorAll('canvas')].map(c => [c.width, c.height])"
    ".sort((a, b) => b[0] * b[1] - a[0] * a[1])[0].join('x')"
)


def browser() -> Any:
    """Return the helper that the tests drive Chromium with."""
    path = Path(__file__).parents[1] / "tests" / "page" / "chromium.py"
    spec = importlib.util.spec_from_file_location("chromium", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def processor_time() -> float:
    """Return the processor time of all processes below this one [s]; 0 where there is no /proc."""
    children: dict[int, list[tuple[int, float]]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        used = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        children.setdefault(int(words[1]), []).append((int(entry.parent.name), used))
    total, left = 0.0, [os.getpid()]
    while left:
        for process, used in children.get(left.pop(), ()):
            total += used
            left.append(process)
    return total


def measure(name: str, seconds: float, window: tuple[int, int]) -> None:
    """Print one line for each number."""
    chromium = browser()
    if chromium.find() is None:
        print("no Chromium is installed: nothing is measured")
        return
    began = time.perf_counter()
    robot = load(name)
    engine = MujocoEngine(robot, check=False)
    view = PageView(engine, title=name)
    devices = make_devices(robot)
    joints = [device for device in devices if isinstance(device, CompliantJoint)]
    with Simulation(engine, devices, [view], pacer=paced(1.0)) as simulation:
        simulation.start()
        loop = threading.Thread(target=simulation.run, name="benchmark-loop")
        loop.start()
        print(f"page served {time.perf_counter() - began:.2f} s after the robot was asked for")
        try:
            with chromium.Page(view.url, *window, webgl=True, script=HOOK) as page:
                page.until("draws.length > 3 && document.querySelectorAll('[role=slider]').length > 0", 60.0)
                print(f"first picture {time.perf_counter() - began:.2f} s after it, browser start included")
                page.until("performance.now() - draws[draws.length - 1] > 400", 30.0)  # the robot is at rest
                latencies = []
                for k in range(12):
                    x, y = page.run(SLIDER)
                    page.run("draws.length = 0; moves.length = 0; true")
                    put = threading.Thread(target=taken, args=(joints[0], at := []), name="benchmark-taken")
                    put.start()
                    page.drag((x, y), (x + (12 if k % 2 else -12), y))
                    put.join(10.0)
                    # The first picture that was drawn after the device had the command, on the browser's clock.
                    then = f"({1e3 * at[0]} - performance.timeOrigin)"
                    page.until(f"moves.length > 0 && draws.length > 0 && draws[draws.length - 1] > {then}")
                    latencies.append(page.run(f"draws.find(t => t > {then}) - moves[0]"))
                    page.until("performance.now() - draws[draws.length - 1] > 300", 30.0)
                print(f"slider to picture: median {statistics.median(latencies):.0f} ms, worst {max(latencies):.0f} ms")
                shake(simulation, joints, page, view, seconds)
        finally:
            simulation.stop()
            loop.join(10.0)


def taken(joint: CompliantJoint, at: list[float]) -> None:
    """Note the wall time at which a device gets its next command."""
    before, until = joint.inbox.peek(), time.monotonic() + 10.0
    while joint.inbox.peek() is before and time.monotonic() < until:
        threading.Event().wait(0.001)
    at.append(time.time())


def shake(simulation: Simulation, joints: list[CompliantJoint], page: Any, view: PageView, seconds: float) -> None:
    """Move the robot, and print pictures a second and the pace that was kept."""
    simulation.pacer.stats(simulation.time_ns)
    page.run("draws.length = 0; true")
    pictures, began, at = view.health()["pictures"], time.perf_counter(), simulation.time
    used = processor_time()
    k = 0
    while time.perf_counter() - began < seconds:
        k += 1
        for joint in joints:
            joint.inbox.put({next(iter(joint.commands[joint.mode.name.lower()])): 0.3 * (-1) ** k})
        threading.Event().wait(0.4)
    wall = time.perf_counter() - began
    drawn = page.run("draws.length")
    print(
        f"pictures sent {(view.health()['pictures'] - pictures) / wall:.1f} a second, drawn {drawn / wall:.1f} a second"
    )
    used = processor_time() - used
    print(f"the browser takes {1e3 * used / max(drawn, 1):.0f} ms of processor time a picture, {used / wall:.2f} cores")
    shadows = "on" if view._scene.layers.shadows else "off"
    print(f"the scene is drawn with {page.run(CANVAS)} pixels while it moves; shadows {shadows}")
    late = simulation.pacer.stats(simulation.time_ns)
    print(
        f"{(simulation.time - at) / wall:.3f} x real time at {1e9 / simulation.dt_ns:.0f} steps a second; "
        f"{late.dropped:.2f} s given up"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robot", nargs="?", default="qbmove-5dof", help="robot of the catalogue (default: %(default)s)")
    parser.add_argument("seconds", type=float, nargs="?", default=8.0, help="time of the run [s] (default: 8)")
    parser.add_argument("size", nargs="?", default="900x480", help="of the page [pixels] (default: %(default)s)")
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    measure(given.robot, given.seconds, (width, height))
