"""Where the name server is looked for, as YARP's programs do it."""

import pytest

from pliant.base.errors import BridgeError
from pliant.yarp.bridge.configuration import (
    ServerAddress,
    configuration_file,
    name_space,
    parse_address,
    read_configuration,
    write_configuration,
)


@pytest.fixture
def home(tmp_path):
    return {"YARP_CONFIG_HOME": str(tmp_path)}


def test_without_a_file_there_is_no_configured_server(home):
    assert read_configuration(home) is None


def test_what_is_written_is_read(home):
    file = write_configuration(ServerAddress("127.0.0.1", 10123), home)
    assert file.read_text() == "127.0.0.1 10123 yarp\n"
    assert read_configuration(home) == ServerAddress("127.0.0.1", 10123)


def test_a_group_name_holds_host_and_port(home, tmp_path):
    (tmp_path / "yarp.conf").write_text("# the server\n[name]\nhost 192.168.1.2\nport 10001\nmode yarp\n")
    assert read_configuration(home) == ServerAddress("192.168.1.2", 10001)


def test_each_name_space_has_a_file_of_its_own(home, tmp_path):
    assert configuration_file(home).name == "yarp.conf"
    assert configuration_file({**home, "YARP_NAMESPACE": "/my-robot"}).name == "_my_robot.conf"
    (tmp_path / "yarp_namespace.conf").write_text("/other\n")
    assert name_space(home) == "/other"
    assert configuration_file(home).name == "_other.conf"


def test_the_folder_is_that_of_xdg_where_yarp_names_none(tmp_path):
    assert configuration_file({"XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "yarp" / "yarp.conf"


@pytest.mark.parametrize("text", ["", "nonsense", "127.0.0.1 x yarp", "127.0.0.1 99999 yarp", "[name]\nhost a\n", "[["])
def test_a_file_that_names_no_server_is_refused_with_its_name(home, tmp_path, text):
    (tmp_path / "yarp.conf").write_text(text)
    with pytest.raises(BridgeError, match=r"yarp\.conf"):
        read_configuration(home)


def test_an_address_is_a_host_and_a_port():
    assert parse_address("robot:10001") == ServerAddress("robot", 10001)
    assert parse_address("robot") == ServerAddress("robot", 10000)
    for text in ("", ":1", "a:b", "a:99999", "a b"):
        with pytest.raises(BridgeError, match="must be HOST or HOST:PORT"):
            parse_address(text)
