"""The floor of lock-step with rospy: answers each command with the bytes of a state that were made before.

A node of ROS 1 of a few calls of sockets, without pliant and without rospy: for benchmarks/ros.py.

python benchmarks/ros1_echo.py NAMESPACE JOINTS    (ROS_MASTER_URI names the master; it runs until it is ended)
"""

import os
import select
import socket
import struct
import sys
import threading
import xmlrpc.client
import xmlrpc.server

HOST = "127.0.0.1"
STATE, STATE_MD5 = "sensor_msgs/JointState", "3066dcd76a6cfaef579bd0f34173e9fd"
COMMAND, COMMAND_MD5 = "std_msgs/Float64MultiArray", "4b7d974086d4060e7db4613a7e6c3ba4"


def text(value):
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def header(**fields):
    body = b"".join(text(f"{name}={value}") for name, value in fields.items())
    return struct.pack("<I", len(body)) + body


def frame(sock):
    """Return one frame without its length."""
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack_from("<I", data)[0]:
        got = sock.recv(65536)
        if not got:
            raise EOFError
        data += got
    return data[4:]


def state(joints):
    """Return a state with its length, and where its stamp stands."""
    body = struct.pack("<III", 0, 0, 0) + text("")
    body += struct.pack("<I", joints) + b"".join(text(f"joint_{k + 1}") for k in range(joints))
    body += 3 * (struct.pack("<I", joints) + struct.pack(f"<{joints}d", *[0.1] * joints))
    return bytearray(struct.pack("<I", len(body)) + body), 8


class Echo:
    def __init__(self, namespace, joints):
        self.name, self.joints = "/echo", joints
        self.state, self.command = f"/{namespace}/robot_state", f"/{namespace}/reference_1"
        self.listener = socket.create_server((HOST, 0))
        self.server = xmlrpc.server.SimpleXMLRPCServer((HOST, 0), logRequests=False, allow_none=True)
        self.uri = f"http://{HOST}:{self.server.server_address[1]}/"
        self.found = threading.Event()
        self.publishers = []
        self.server.register_function(
            lambda caller, topic, protocols: [1, "", ["TCPROS", HOST, self.listener.getsockname()[1]]], "requestTopic"
        )
        self.server.register_function(self.publisher_update, "publisherUpdate")
        self.server.register_function(lambda caller: [1, "", os.getpid()], "getPid")
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def publisher_update(self, caller, topic, publishers):
        if topic == self.command and publishers:
            self.publishers = publishers
            self.found.set()
        return [1, "", 0]

    def run(self):
        master = xmlrpc.client.ServerProxy(os.environ["ROS_MASTER_URI"])
        master.registerPublisher(self.name, self.state, STATE, self.uri)
        known = master.registerSubscriber(self.name, self.command, COMMAND, self.uri)[2]
        self.publisher_update("", self.command, known)
        out, _ = self.listener.accept()
        out.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        frame(out)
        out.sendall(header(callerid=self.name, topic=self.state, type=STATE, md5sum=STATE_MD5, latching=0))
        self.found.wait()
        _, _, (_, host, port) = xmlrpc.client.ServerProxy(self.publishers[0]).requestTopic(
            self.name, self.command, [["TCPROS"]]
        )
        commands = socket.create_connection((host, port))
        commands.sendall(
            header(
                callerid=self.name,
                topic=self.command,
                type=COMMAND,
                md5sum=COMMAND_MD5,
                tcp_nodelay=1,
                message_definition="",
            )
        )
        frame(commands)
        message, at = state(self.joints)
        step = 0
        while True:
            step += 1
            struct.pack_into("<II", message, at, *divmod(step * 1_000_000, 1_000_000_000))
            out.sendall(message)
            while step == 1 and not select.select([commands], [], [], 0.25)[0]:
                out.sendall(message)  # rospy loses what it publishes just before it counts the connection
            frame(commands)


def main():
    try:
        Echo(sys.argv[1], int(sys.argv[2])).run()
    except (EOFError, ConnectionError):
        return  # the controller has ended


if __name__ == "__main__":
    main()
