"""The bridge between the devices and Foxglove's WebSocket server, as the loop drives it."""

from __future__ import annotations

import json
import logging
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.base.errors import BridgeError
from pliant.base.listening import listening_address
from pliant.base.origin import foreign
from pliant.base.ratelimit import RateLimit
from pliant.base.threads import WorkerPool
from pliant.devices.base import Command, Sample, SampleSource
from pliant.devices.signatures import CAMERA
from pliant.engine.base import MujocoState, mujoco_state
from pliant.foxglove.cameras import ENCODINGS, CameraTopics
from pliant.foxglove.commands import CommandTopics, answer_call, command_json, command_schema, service_actions
from pliant.foxglove.gate import RequestGate, hidden_address
from pliant.foxglove.layout import make_layout
from pliant.foxglove.listener import Listener
from pliant.foxglove.options import FoxgloveOptions
from pliant.foxglove.scene import BodyPoses, frame_names, mounted, scene_entities, transforms
from pliant.foxglove.sdk import load_sdk
from pliant.model.wanted import check_source
from pliant.recording.sample_message import MessageTypes, body_encoder, has_images, sample_topic
from pliant.simulation.bridge import BridgeBase, TopicReport
from pliant.simulation.live_parameters import live_parameters
from pliant.simulation.loop_cost import LoopCost
from pliant.simulation.rate_timer import RateTimer
from pliant.simulation.switching import SwitchInterval

if TYPE_CHECKING:
    import numpy as np

    from foxglove import ServiceRequest
    from pliant.model.robot import Robot
    from pliant.simulation.replayed import Replayed

JOB_LIMIT = 64
"""Most images, scenes and sets of poses that wait to be encoded; what comes then is dropped and counted."""
MAX_QUEUE = 1024
"""Most messages that wait for a client; the SDK drops the oldest ones."""
MIN_QUEUE = 16
MAX_QUEUE_BYTES = 64e6
"""Most bytes of images that wait for a client [bytes]."""
JOIN_TIMEOUT = 5.0
APP = "https://app.foxglove.dev"
"""The web site with Foxglove's app."""
SCENE, TRANSFORMS = "/scene", "/tf"
_log = logging.getLogger("pliant.foxglove")


@dataclass(slots=True)
class _Served:
    """Outgoing data of one device."""

    channel: Any
    encode: Callable[[Sample], bytes]
    timer: RateTimer
    device: SampleSource
    commands: Any = None
    """Channel of its commands; None for a sensor."""
    last: Command | None = None
    """The command that was sent last."""
    count: int = 0
    type: str = ""


class Foxglove(BridgeBase):
    """Serves a robot to Foxglove's app, and to every program that speaks its WebSocket protocol.

    The loop encodes numbers and hands everything else to a thread; the SDK's threads send. Nothing waits for a client.

    Args:
        robot: the robot, or what is replayed; None where there is neither.
        options: where it listens, and how often it sends.
    """

    name = "foxglove"

    def __init__(self, robot: Robot | Replayed | None = None, options: FoxgloveOptions | None = None) -> None:
        super().__init__()
        check_source(robot, "Foxglove")
        self.options = options or FoxgloveOptions()
        self._title = getattr(robot, "name", "") or "pliant"
        self._sdk: Any = None
        self._context: Any = None
        self._server: Any = None
        self._gate: RequestGate | None = None
        self._listener_socket: socket.socket | None = None
        self._pool: WorkerPool | None = None
        self._switch = SwitchInterval()
        self._served: dict[str, _Served] = {}
        self._cameras: dict[str, CameraTopics] = {}
        self._commands = CommandTopics({})
        self._listener: Listener | None = None
        self._closers: list[Callable[[], None]] = []
        self._folder = ""
        self._layout = ""
        self._inside = hidden_address()
        self._clock = RateTimer(self.options.tf_rate)
        self._scene: Any = None
        self._transforms: Any = None
        self._mounts: dict[str, Any] = {}
        self._poses: BodyPoses | None = None
        self._names: list[str] = []
        self._stamp_ns = 0
        self._dropped = 0
        self._rejected = 0
        self._cost = LoopCost()
        self._fault = ""
        self._limit = RateLimit(burst=5, rate=2.0)
        self._began = 0.0

    # ------------------------------------------------------------------ start
    def start(self, devices: Mapping[str, SampleSource]) -> None:
        """Open the server and announce every topic.

        Raises:
            BridgeError: the port is in use, the host is no address of this machine, the layout cannot be written.
            MissingDependency: foxglove-sdk is not installed.
        """
        self._sdk = load_sdk()
        try:
            self._open(dict(devices))
        except BaseException:
            self.stop()
            raise

    def _open(self, devices: dict[str, SampleSource]) -> None:
        sdk, context = self._sdk, self._sdk.Context()
        self._context = context  # the SDK keeps no reference: channels of a context that is gone have no listeners
        self._began = time.monotonic()
        self._serve_scene(context, devices)
        types = MessageTypes()
        for name, device in devices.items():
            if CAMERA.of(device) and any(field in device.samples for field in ENCODINGS):
                self._cameras[name] = CameraTopics(sdk, context, device)  # type: ignore[arg-type]
                self._closers += [channel.close for channel in self._cameras[name].channels]
            elif not has_images(device):
                self._serve_device(context, types, name, device)
        self._commands = CommandTopics(devices)
        self._listener = Listener(
            self._commands, live_parameters(devices), sdk.Parameter, self._subscribed, self._refuse
        )
        self._pool = WorkerPool(self.threads, "pliant-foxglove", workers=1, limit=JOB_LIMIT)
        self._switch.shorten()
        self._server = self._listen(context, devices)
        listening = self._listener_socket
        assert listening is not None
        self._gate = RequestGate(
            listening, (self._inside, self._server.port), self._judge, self.threads, "pliant-foxglove-gate"
        )
        address = f"ws://{self.options.host}:{listening.getsockname()[1]}"
        self._where = {"Foxglove": address}
        self._write_layout(devices)
        self._notes = (
            f"in Foxglove choose 'Open connection', address {address}{self._hosted(address)}",
            f"layout of this robot for Foxglove's 'Import from file': {self._layout}",
        )

    def _serve_device(self, context: object, types: MessageTypes, name: str, device: SampleSource) -> None:
        topic, message = sample_topic(name), types.make(name, device.samples, device.signatures)
        sdk = self._sdk
        schema = sdk.Schema(name=message.name, encoding="ros2msg", data=message.text.encode())
        channel = sdk.Channel(topic, message_encoding="cdr", schema=schema, context=context)
        served = _Served(channel, body_encoder(device.samples), RateTimer(self.options.rate), device, type=message.name)
        self._closers.append(channel.close)
        if device.commands:
            described = command_schema(device)
            schema = sdk.Schema(name=described["title"], encoding="jsonschema", data=json.dumps(described).encode())
            served.commands = sdk.Channel(f"{topic}/command", message_encoding="json", schema=schema, context=context)
            self._closers.append(served.commands.close)
        self._served[name] = served

    def _serve_scene(self, context: object, devices: Mapping[str, SampleSource]) -> None:
        engine = None if self._simulation is None else self._simulation.engine
        if not isinstance(engine, MujocoState):  # a replay has samples only
            return
        channels = self._sdk.channels
        self._names = frame_names(engine.model)
        self._mounts = {d.frame: d.mount for d in devices.values() if d.mount is not None and d.frame != d.mount.body}
        self._scene = channels.SceneUpdateChannel(SCENE, context=context)
        self._transforms = channels.FrameTransformsChannel(TRANSFORMS, context=context)
        self._closers += [self._scene.close, self._transforms.close]

    def _listen(self, context: object, devices: Mapping[str, SampleSource]) -> object:
        sdk, capability = self._sdk, self._sdk.websocket.Capability
        try:
            address = listening_address(self.options.host, "host")
            self._listener_socket = socket.create_server((address, self.options.port), backlog=64)
        except OSError as error:
            raise BridgeError(
                f"foxglove: cannot listen on {self.options.host}:{self.options.port}: {error.strerror or error}; "
                "choose another with foxglove:port=N, or 0 for a free one",
                field="port",
            ) from None
        largest = max(
            (device.samples[f].size * size // 3 if f == "image" else device.samples[f].size * size
             for device in devices.values() for f, (_, size) in ENCODINGS.items() if f in device.samples),
            default=0,
        )  # fmt: skip
        queue = MAX_QUEUE if not largest else int(min(MAX_QUEUE, max(MIN_QUEUE, MAX_QUEUE_BYTES // largest)))
        capabilities = [capability.ClientPublish, capability.Parameters, capability.Time]
        try:
            return sdk.start_server(
                name=self._title,
                host=self._inside,
                port=0,
                capabilities=[*capabilities, *([capability.Services] if self._simulation else [])],
                server_listener=self._listener,
                supported_encodings=["json"],
                services=self._services(devices),
                context=context,
                message_backlog_size=queue,
            )
        except (RuntimeError, OSError) as error:
            raise BridgeError(
                f"foxglove: cannot listen on {self.options.host}:{self.options.port}: {error}", field="port"
            ) from None

    def _judge(self, headers: list[tuple[str, str]]) -> str:
        """Return why a client is not let in; the SDK's server would let every site command the robot."""
        return foreign(headers, self.options.host, origins=self.options.origins.split(), local=True)

    def _hosted(self, address: str) -> str:
        """Return how the app of the web site connects."""
        if APP not in self.options.origins.split():
            return f"; for the app on the web site add the option origins={APP}"
        return f", or open {APP}/~/view?ds=foxglove-websocket&ds.url={address}"

    def _services(self, devices: Mapping[str, SampleSource]) -> list[object] | None:
        if self._simulation is None:
            return None
        sdk = self._sdk
        found = []
        for name, action in service_actions(self._simulation, devices).items():
            schemas = [
                sdk.MessageSchema(
                    encoding="json",
                    schema=sdk.Schema(name=kind, encoding="jsonschema", data=b'{"type": "object"}'),
                )
                for kind in ("ServiceRequest", "ServiceAnswer")
            ]
            schema = sdk.ServiceSchema(name="pliant.Service", request=schemas[0], response=schemas[1])
            found.append(sdk.Service(name, schema=schema, handler=partial(_answer, action)))
        return found

    def _write_layout(self, devices: Mapping[str, SampleSource]) -> None:
        engine = None if self._simulation is None else self._simulation.engine
        extent = float(engine.model.stat.extent) if isinstance(engine, MujocoState) else 1.0
        text = make_layout(self._sdk.layouts, devices, extent)
        try:
            if self.options.layout:
                path = Path(self.options.layout)
            else:
                self._folder = tempfile.mkdtemp(prefix="pliant-foxglove-")
                path = Path(self._folder) / "layout.json"
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise BridgeError(f"foxglove: the layout cannot be written: {error}", field="layout") from None
        self._layout = str(path)

    # ------------------------------------------------------------------ the loop
    def tick(self, stamp_ns: int) -> None:
        """Send the clock and the poses of the bodies, at their rate."""
        began = time.perf_counter_ns()
        self._send_tick(stamp_ns)
        self._cost.end_step()
        self._cost.spent_ns += time.perf_counter_ns() - began

    def _send_tick(self, stamp_ns: int) -> None:
        if stamp_ns < self._stamp_ns:  # the simulation was reset
            self._submit(self._rewind)
        self._stamp_ns = stamp_ns
        if not self._clock.due(stamp_ns) or self._listener is None or not self._listener.clients:
            return
        poses = None
        simulation = self._simulation
        if simulation is not None and self._transforms is not None and self._transforms.has_sinks():
            state = mujoco_state(simulation.engine, "foxglove")
            if self._poses is None:
                self._poses = BodyPoses(state.model)
            poses = self._poses.at(state.data)
        self._submit(partial(self._send_time, stamp_ns, poses))

    def publish(self, sample: Sample) -> None:
        """Send a sample to those who listen."""
        began = time.perf_counter_ns()
        self._send_sample(sample)
        self._cost.spent_ns += time.perf_counter_ns() - began

    def _send_sample(self, sample: Sample) -> None:
        served = self._served.get(sample.device)
        if served is not None:
            if served.channel.has_sinks() and served.timer.due(sample.stamp_ns):
                served.channel.log(served.encode(sample), log_time=sample.stamp_ns)
                served.count += 1
            if served.commands is not None and (command := served.device.inbox.peek()) is not served.last:
                served.last = command
                if command is not None and served.commands.has_sinks():
                    served.commands.log(command_json(command), log_time=sample.stamp_ns)
            return
        camera = self._cameras.get(sample.device)
        if camera is not None:
            for job in camera.jobs(sample):
                self._submit(job)

    def stop(self) -> None:
        """Close the server and remove the layout that nobody asked for."""
        self.threads.close()
        if self._pool is not None:
            self._pool.close()
        if self._gate is not None:
            self._gate.close()
        elif self._listener_socket is not None:
            self._listener_socket.close()
        self._gate = self._listener_socket = None
        if self._server is not None:
            self._server.stop()
            self._server = None
        self.threads.join(JOIN_TIMEOUT)
        for close in self._closers:
            close()
        self._closers.clear()
        self._served.clear()
        self._cameras.clear()
        self._scene = self._transforms = self._context = None
        self._where, self._notes = {}, ()
        self._switch.restore()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def health(self) -> Mapping[str, object]:
        """Return messages by device, what was dropped, and what clients did wrong."""
        return {
            "sent": {name: served.count for name, served in self._served.items()},
            "commands": dict(self._commands.counts),
            "clients": len(self._listener.clients) if self._listener else 0,
            "dropped": self._dropped,
            "rejected": self._rejected,
            **self._cost.health(),
            "last_error": self._fault,
        }

    def report(self) -> list[TopicReport]:
        """Return one row for each device and each topic of commands."""
        elapsed = max(time.monotonic() - self._began, 1e-9)
        rows = [(sample_topic(name), served.type, "out", served.count) for name, served in self._served.items()] + [
            (topic, "json", "in", count) for topic, count in self._commands.counts.items()
        ]
        return [
            TopicReport(topic=topic, type=kind, direction=way, count=count, rate=count / elapsed, peers=())
            for topic, kind, way, count in rows
        ]

    # ------------------------------------------------------------------ other threads
    def _submit(self, job: Callable[[], None]) -> None:
        if self._pool is None or not self._pool.submit(partial(_guarded, job)):
            self._dropped += 1

    def _send_time(self, stamp_ns: int, poses: tuple[np.ndarray, np.ndarray] | None) -> None:
        server, messages = self._server, self._sdk.messages
        if server is None:
            return
        server.broadcast_time(stamp_ns)
        if poses is not None:
            found = transforms(messages, self._names, *poses, stamp_ns)
            found += mounted(messages, self._mounts, stamp_ns)
            self._transforms.log(messages.FrameTransforms(transforms=found), log_time=stamp_ns)

    def _send_scene(self) -> None:
        scene, simulation = self._scene, self._simulation
        if scene is not None and simulation is not None:
            messages = self._sdk.messages
            entities = scene_entities(messages, mujoco_state(simulation.engine, "foxglove").model)
            scene.log(messages.SceneUpdate(entities=entities), log_time=self._stamp_ns)

    def _rewind(self) -> None:
        if self._server is not None:
            self._server.clear_session()
            self._send_scene()
            if self._listener is not None:  # a client shows the values that the reset has restored
                self._server.publish_parameter_values(self._listener.on_get_parameters(None, []))

    def _subscribed(self, topic: str) -> None:
        if topic == SCENE:
            self._submit(self._send_scene)

    def _refuse(self, text: str) -> None:
        """Count what a client did wrong, and tell it to all clients, not too often."""
        self._rejected += 1
        self._fault = text
        if self._limit.admit() is not None:
            self._submit(partial(self._tell, text))

    def _tell(self, text: str) -> None:
        if self._server is not None:
            self._server.publish_status(text, self._sdk.StatusLevel.Warning)


def _guarded(job: Callable[[], None]) -> None:
    """Run a job; one that fails costs one message, not the thread."""
    try:
        job()
    except Exception:  # one message must not end the thread of all
        _log.exception("a message for Foxglove could not be made")


def _answer(action: Callable[[Mapping[str, object]], str], request: ServiceRequest) -> bytes:
    return answer_call(action, request.payload)


def make(robot: Robot | Replayed | None, options: FoxgloveOptions) -> Foxglove:
    """Return the bridge of a robot, or of what is replayed; None where there is neither."""
    return Foxglove(robot, options)
