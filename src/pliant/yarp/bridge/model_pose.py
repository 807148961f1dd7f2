"""The pose of a robot, sent to a transform server: a program that keeps a tree of frames for others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

import numpy as np

from pliant.base.errors import BridgeError, PliantError
from pliant.devices.base import Sample, SampleSource
from pliant.yarp.bridge.calls import RpcConnection
from pliant.yarp.bridge.served import Served
from pliant.yarp.bridge.world import encode_outcome
from pliant.yarp.wire import Bottle, Vocab, encode_bottle, format_bottle
from pliant.yarp.wire.binary import decode_either
from pliant.yarp.wire.values import OK, Int8

SERVER = "/transformServer/rpc"
"""Port of ``transformServer`` (YARP 3.0 to 3.8), the only one of gazebo-yarp-plugins."""
PARENT = "/inertial"
"""Name of the world's frame; gazebo-yarp-plugins."""
LIFETIME_S = 1000.0
"""Lifetime in YARP's requests [s]; its server takes any number above 0 as "for some time" and uses one of its own."""
RETRY_S = 2.0
"""Time between two attempts to reach the server [s]."""
TIMEOUT_S = 1.0
"""Longest wait for the server's answer [s]."""
POLL_S = 0.1
"""How often the thread looks whether it is to stop [s]."""


def _numbers(sample: Sample) -> tuple[list[float], list[float]]:
    """Return the position and the orientation (w, x, y, z) of a sample of `ModelPoseDevice`."""
    position, orientation = np.asarray(sample.values["position"]), np.asarray(sample.values["orientation"])
    return position.tolist(), orientation.tolist()


def pose_request(child: str, sample: Sample) -> Bottle:
    """Return the call by which ``transformServer`` sets the transform from the world to a frame.

    Args:
        child: name of the frame.
        sample: of `pliant.yarp.devices.model_pose.ModelPoseDevice`.
    """
    position, orientation = _numbers(sample)
    return Bottle((Vocab.of("itrf"), Vocab.of("tfst"), PARENT, child, LIFETIME_S, *position, *orientation))


def pose_record(child: str, sample: Sample) -> Bottle:
    """Return the call by which ``frameTransformServer`` does so, with a record for the transform.

    Its time is that of the system, as YARP's own clients have it: the server drops a transform whose time is 0.2 s
    behind its clock, and one that is not newer than the last.
    """
    position, (w, *vector) = _numbers(sample)
    return Bottle(("setTransformRPC", Bottle((PARENT, child, time.time(), Int8(0), *position, *vector, w))))


REQUESTS: Mapping[str, Callable[[str, Sample], Bottle]] = {
    SERVER: pose_request,
    "/frameTransformServer/frameTransformSet_nws_yarp/thrift": pose_record,
    "/frameTransformSet/serverRPC": pose_record,
}
"""Ports of transform servers and what they take; the second from YARP 3.5.1 on, the third in 3.5.0."""
TAKEN_3_12 = encode_outcome(True, None, 3)
"""Reply of YARP 3.12 to a pose that was taken, which is no list."""


class _Sender:
    """Sends the newest pose to the server, in a thread of its own: each call waits for its answer."""

    def __init__(self, served: Served, name: str, device: SampleSource, model: str) -> None:
        self._network, self._receivers = served.network, served.receivers
        self._child = f"/{model}/frame"
        self._port = f"/{model}/transformClient/rpc:o"
        self._newest: Sample | None = None
        self._wake = threading.Event()
        self._connection: RpcConnection | None = None
        self._told = ""
        served.writers[name].append(self._put)
        served.network.threads.start(f"pliant-yarp-{name}"[:60], self._work)

    def _put(self, sample: Sample) -> None:
        """Keep a sample for the thread; the loop thread calls this and never waits."""
        self._newest = sample
        self._wake.set()

    def _work(self) -> None:
        threads = self._network.threads
        next_attempt = 0.0
        try:
            while not threads.closing:
                if not self._wake.wait(POLL_S):
                    continue
                self._wake.clear()
                sample = self._newest
                if sample is None or time.monotonic() < next_attempt:
                    continue
                try:
                    self._send(sample)
                except PliantError as fault:
                    self._disconnect()
                    next_attempt = time.monotonic() + RETRY_S
                    self._tell(f"{self._port}: no pose is sent: {fault}; it is tried again every {RETRY_S:g} s")
        finally:
            self._disconnect()

    def _send(self, sample: Sample) -> None:
        connection = self._connection = self._connection or self._connect()
        port = connection.contact.name
        payload = connection.call_bytes(encode_bottle(REQUESTS[port](self._child, sample), connection.dialect))
        if payload == TAKEN_3_12:
            self._told = ""
            return
        reply = decode_either(payload, connection.dialect)[0] if payload else Bottle()
        if not reply.items or reply[0] != OK:
            said = format_bottle(reply)[:200] or "nothing"
            raise BridgeError(f"{port} answers {said} to the pose of {self._child}", field=port)
        self._told = ""

    def _connect(self) -> RpcConnection:
        """Return a connection to the first transform server that answers.

        Raises:
            BridgeError: there is none.
        """
        names = self._network.names
        fault = BridgeError(
            f"none of {', '.join(REQUESTS)} is registered with the name server at {names.address}", field=SERVER
        )
        for contact in filter(None, map(names.query, REQUESTS)):
            try:
                self._receivers.meet(contact.name, contact)
                return RpcConnection(contact, self._port, self._receivers.dialect_of(contact.name), TIMEOUT_S)
            except BridgeError as error:
                fault = error
        raise fault

    def _tell(self, text: str) -> None:
        """Tell a fault once, until a pose is taken again."""
        if text != self._told and not self._network.threads.closing:
            self._told = text
            self._network.on_complaint(text)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def serve_model_pose(served: Served, name: str, device: SampleSource) -> None:
    """Send the poses of a robot to the transform server, from ``/inertial`` to ``/model/frame``."""
    _Sender(served, name, device, device.metadata.get("model", "").strip("/") or served.name)
