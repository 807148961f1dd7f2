"""What `pliant doctor --bridge fci` says of an arm that is served, and of other things at its address."""

import json
import re
import socket
import threading

import pytest
from fci_clients import Client, serve

from pliant.cli import main

pytestmark = pytest.mark.network


def examine(capsys, **options):
    text = ",".join(f"{key}={value}" for key, value in options.items())
    with pytest.raises(SystemExit) as end:
        main(["doctor", "--bridge", f"fci:{text}", "--json"])
    found = json.loads(capsys.readouterr().out)
    return int(end.value.code or 0), {f["name"]: (f["status"], f["found"], f["advice"]) for f in found["findings"]}


def ports(server, **more):
    arm = server.arms[0]
    return {"host": arm.host, "port": arm.port, "gripper_port": arm.hand.port, **more}


def test_an_arm_is_named_with_its_versions_its_rate_and_its_hand(capsys):
    with serve(system_version="5.7.2") as server:
        code, found = examine(capsys, **ports(server))
    assert code == 0
    assert found["robot"][0] == "ok"
    assert found["protocol"] == ("ok", "9 (libfranka 0.15 to 0.17)", "")
    assert found["hand"][0] == "ok"
    assert found["vacuum gripper"][0] == "note"
    rate = re.match(r"([\d.]+): (\d+) cycles in ([\d.]+) s, \d+ states lost", found["real-time rate"][1])
    assert rate is not None
    assert float(rate[1]) == pytest.approx(int(rate[2]) / float(rate[3]) / 1000.0, rel=0.05)
    assert found["real-time rate"][0] == ("ok" if float(rate[1]) >= 0.98 else "warning")


def test_all_versions_that_are_served_are_named(capsys):
    with serve(system_version="any") as server:
        _, found = examine(capsys, **ports(server))
    assert [int(n) for n in re.findall(r"(\d+) \(", found["protocol"][1])] == [4, 5, 6, 7, 8, 9, 10]


def test_an_arm_that_serves_another_client_says_so(capsys):
    with serve() as server, Client(server):
        code, found = examine(capsys, **ports(server))
    assert (code, found["robot"][0]) == (0, "warning")
    assert "another client" in found["robot"][1]


def test_nothing_at_the_address_is_an_error_with_the_command_that_serves_one(capsys):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        code, found = examine(capsys, port=free.getsockname()[1])
    assert code == 3
    assert found["robot"][2] == "start one: pliant run fr3 --bridge fci"


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(15), b"\0" * 8 + b"\x0d\0\0\0\0"])
def test_another_program_at_the_address_is_told_from_an_arm(answer, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:

        def talk():
            accepted, _ = other.accept()
            with accepted:
                accepted.recv(100)
                accepted.sendall(answer)
                accepted.recv(100)

        thread = threading.Thread(target=talk)
        thread.start()
        code, found = examine(capsys, port=other.getsockname()[1])
        thread.join()
    assert code == 3
    assert "does not answer as a Franka arm" in found["robot"][1]


def test_a_bridge_that_cannot_be_looked_at_is_refused_with_one_that_can(capsys):
    with pytest.raises(SystemExit) as end:
        main(["doctor", "--bridge", "foxglove"])
    assert end.value.code
    assert "cannot be looked at" in "".join(capsys.readouterr())
