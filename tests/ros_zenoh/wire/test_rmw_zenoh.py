"""Keys, tokens and attachments of rmw_zenoh: the examples of its design document are the golden texts."""

import contextlib
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import WireError
from pliant.ros.wire import dds_type_name, registry
from pliant.ros_zenoh.wire.rmw_zenoh import Attachment, Endpoint, Qos, token_selector, topic_key

# rmw_zenoh, docs/design.md: chatter is std_msgs/String, add_two_ints is example_interfaces/AddTwoInts.
STRING = "std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
ADD = (
    "example_interfaces::srv::dds_::AddTwoInts_/RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
)
NODE = "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener"
LISTENER = f"@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MS/%/%/listener/%chatter/{STRING}/::,10:,:,:,,"
TALKER = f"@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/{STRING}/::,7:,:,:,,"
SERVER = f"@ros2_lv/2/f9980ee0495eaafb3e38f0d19e2eae12/0/10/SS/%/%/server/%add_two_ints/{ADD}/::,10:,:,:,,"


def test_topic_keys_are_those_of_the_design_document():
    name, found = dds_type_name("std_msgs/String"), registry(2).rihs01("std_msgs/String")
    assert topic_key(0, "/chatter", name, found) == f"0/chatter/{STRING}"
    assert topic_key(0, "/robot1/chatter", name, found) == f"0/robot1/chatter/{STRING}"
    assert topic_key(2, "/add_two_ints", *ADD.split("/")) == f"2/add_two_ints/{ADD}"
    assert dds_type_name("example_interfaces/AddTwoInts", "srv") == ADD.split("/")[0]
    assert dds_type_name("std_srvs/srv/Trigger", "srv") == "std_srvs::srv::dds_::Trigger_"
    action = dds_type_name("control_msgs/action/FollowJointTrajectory_SendGoal", "srv")
    assert action == "control_msgs::action::dds_::FollowJointTrajectory_SendGoal_"


@pytest.mark.parametrize("token", [NODE, LISTENER, TALKER, SERVER])
def test_tokens_of_the_design_document_are_read_and_written_alike(token):
    assert Endpoint.parse(token).token() == token


def test_what_a_token_says():
    talker = Endpoint.parse(TALKER)
    assert (talker.domain, talker.node_id, talker.entity_id, talker.kind) == (2, 0, 10, "MP")
    assert (talker.session, talker.node_name, talker.name) == (
        "8b20917502ee955ac4476e0266340d5c",
        "/talker",
        "/chatter",
    )
    assert talker.qos == Qos(depth=7)
    assert talker.key == f"2/chatter/{STRING}"
    deep = Endpoint.parse(TALKER.replace("/%/%/talker", "/%/%arm%left/talker"))
    assert deep.node_name == "/arm/left/talker"
    # Lyrical writes one part more.
    assert Endpoint.parse(f"{TALKER}/cpu:") == talker


def test_the_identifier_is_the_hash_of_the_token():
    # xxh3_128 of the token by the xxhash package 3.x, low half first.
    assert Endpoint.parse(TALKER).gid.hex() == "ac170f31eadcd9ff0cd86d7a17907d1c"


@pytest.mark.parametrize(
    ("qos", "text"),
    [
        (Qos(), "::,:,:,:,,"),
        (Qos(depth=10), "::,10:,:,:,,"),
        (Qos(reliable=False, depth=5), "2::,5:,:,:,,"),
        (Qos(transient_local=True, depth=1), ":1:,1:,:,:,,"),
        (Qos(keep_all=True, depth=1), "::2,1:,:,:,,"),
    ],
)
def test_quality_of_service_leaves_defaults_out(qos, text):
    assert qos.text() == text
    assert Qos.parse(text) == qos


def test_written_defaults_are_the_defaults():
    assert Qos.parse("1:2:1,42:9223372036,854775807:9223372036,854775807:1,9223372036,854775807") == Qos()


def test_an_attachment_has_33_bytes_little_endian_with_the_length_of_the_identifier():
    gid = bytes(range(16))
    data = Attachment(sequence_number=258, timestamp_ns=1, gid=gid).encode()
    assert data.hex() == "0201000000000000010000000000000010" + gid.hex()
    assert Attachment.decode(data) == Attachment(sequence_number=258, timestamp_ns=1, gid=gid)


def test_selectors():
    assert token_selector(3) == "@ros2_lv/3/**"


@pytest.mark.parametrize(
    ("token", "says"),
    [
        ("", "not a token of rmw_zenoh"),
        ("@ros2_lv/0/ab/0/0/NN/%/%", "not a token of rmw_zenoh"),
        (NODE.replace("@ros2_lv", "@zenoh"), "not a token of rmw_zenoh"),
        (NODE.replace("/%/%/", "//%/"), "no part empty"),
        (NODE.replace("NN", "MX"), "must be one of"),
        (NODE.replace("NN", "MP"), "needs topic"),
        (NODE.replace("/2/", "/two/"), "domain is 'two'"),
        (NODE.replace("/2/", "/-2/"), "domain is '-2'"),
        (TALKER.replace("::,7:", "::7:"), "quality of service"),
        (TALKER.replace("/::,7", "/9::,7"), "reliability is 9"),
        (TALKER.replace(",7:", ",x:"), "depth is 'x'"),
        (TALKER + "x" * 5000, "at most 4096"),
    ],
)
def test_wrong_tokens_are_refused_by_name(token, says):
    with pytest.raises(WireError, match=says):
        Endpoint.parse(token)


@pytest.mark.parametrize("data", [b"", bytes(33), bytes(32), bytes(34), b"\xff" * 16 + b"\x10" + bytes(16)])
def test_wrong_attachments_are_refused(data):
    with pytest.raises(WireError, match="attachment"):
        Attachment.decode(data)


WORDS = st.text(string.ascii_lowercase + "_", min_size=1, max_size=12)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(lambda words: "/" + "/".join(words))


@given(
    domain=st.integers(0, 232),
    ids=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    kind=st.sampled_from(["MP", "MS", "SS", "SC"]),
    names=st.tuples(NAMES, NAMES),
    node=WORDS,
    qos=st.builds(
        Qos, reliable=st.booleans(), transient_local=st.booleans(), keep_all=st.booleans(), depth=st.integers(0, 9999)
    ),
)
def test_endpoints_survive_their_token(domain, ids, kind, names, node, qos):
    endpoint = Endpoint(
        domain=domain, session="ab12", node_id=ids[0], entity_id=ids[1], kind=kind, namespace=names[0], node=node,
        name=names[1], dds_type="std_msgs::msg::dds_::Bool_", type_hash="RIHS01_ab", qos=qos,
    )  # fmt: skip
    assert Endpoint.parse(endpoint.token()) == endpoint


@given(st.text(max_size=200) | st.text("/%:,@ros2_lv019MPNS", max_size=200).map(lambda t: "@ros2_lv/0/a/0/1/MP/" + t))
def test_any_text_is_a_token_or_a_wire_error(text):
    with contextlib.suppress(WireError):
        Endpoint.parse(text)


@given(st.binary(max_size=40))
def test_any_bytes_are_an_attachment_or_a_wire_error(data):
    with contextlib.suppress(WireError):
        assert Attachment.decode(data).encode() == data


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1), st.binary(min_size=16, max_size=16))
def test_attachments_survive_their_bytes(number, stamp, gid):
    attachment = Attachment(sequence_number=number, timestamp_ns=stamp, gid=gid)
    assert Attachment.decode(attachment.encode()) == attachment
