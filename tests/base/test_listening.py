"""Addresses to listen on."""

import pytest

from pliant.base.errors import BridgeError
from pliant.base.listening import listening_address

pytestmark = pytest.mark.quick


def test_an_address_of_this_machine_stays_itself():
    assert listening_address("127.0.0.1", "host") == "127.0.0.1"


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a" * 70, "x..y", "300.1.1.1"])
def test_a_host_without_address_is_named_with_an_example(host):
    with pytest.raises(BridgeError, match=r"host is '.*' \(.*\); must be an address of this machine, such as 127"):
        listening_address(host, "host")


@pytest.mark.parametrize("host", ["", "0.0.0.0", "*"])
def test_every_interface_is_refused(host):
    with pytest.raises(BridgeError, match="every interface"):
        listening_address(host, "host")
