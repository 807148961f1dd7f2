"""A robot with its page, simulated in real time in a thread."""

import asyncio
import contextlib
import socket
import threading
import time

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageView
from pliant.robots.loading import load
from pliant.simulation import Simulation, paced


def free_port() -> int:
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(name, *, prepare=None, install=None, bridges=(), **options):
    """Simulate a robot with its page; yields simulation and page.

    Args:
        name: the robot.
        prepare: called with the page before it starts.
        install: name and scenario that plays from the start on, as with `pliant run --scenario`.
        bridges: bridges beside the page.
        options: of the page.
    """
    robot = load(name)
    engine = MujocoEngine(robot, check=False)
    view = PageView(engine, port=free_port(), title=name, **options)
    pacer = "sync" if any(bridge.lockstep for bridge in bridges) else paced(1.0)
    with Simulation(engine, make_devices(robot), [view, *bridges], pacer=pacer) as simulation:
        if prepare is not None:
            prepare(view)
        if install is not None:
            view.offer(*install, install[1].install(simulation))
        simulation.start()
        thread = threading.Thread(target=simulation.run, name="test-loop")
        thread.start()
        try:
            yield simulation, view
        finally:
            simulation.stop()
            thread.join(60.0)


def eventually(true, seconds=60.0):
    """Ask again and again, each time letting the loop go on, until it is true."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "waited in vain"
        threading.Event().wait(0.05)


def enter(server, uuid, value):
    """Give a control a value, as a browser does; without a browser viser calls nobody."""
    from viser import GuiEvent
    from viser._messages import GuiUpdateMessage

    connection = server.viser._websock_server

    async def give():
        for handler in connection._incoming_handlers[GuiUpdateMessage]:
            await handler(0, GuiUpdateMessage(uuid, {"value": value}))

    asyncio.run_coroutine_threadsafe(give(), connection._background_event_loop).result(30.0)
    handle = server.gui._gui_input_handle_from_uuid[uuid]
    for called in list(handle._impl.update_cb):
        called(GuiEvent(None, 0, handle))
