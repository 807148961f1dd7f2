"""The types of services, parameters and actions of ROS 2, against hashes that ROS 2 itself ships."""

import pytest
from rosbags.typesys import Stores, get_typestore

from pliant.base.errors import WireError
from pliant.ros.wire import Codec, Registry, dds_type_name, registry
from pliant.ros.wire.definitions_node import NODE_TEXTS, action_parts

# From the JSON descriptions that an installed ROS 2 (Jazzy) has in share/<package>.
PUBLISHED = {
    "rcl_interfaces/srv/GetParameters": "bf9803d5c74cf989a5de3e0c2e99444599a627c7ff75f97b8c05b01003675cbc",
    "rcl_interfaces/srv/GetParameterTypes": "da199c878688b3e530bdfe3ca8f74cb9fa0c303101e980a9e8f260e25e1c80ca",
    "rcl_interfaces/srv/SetParameters": "56eed9a67e169f9cb6c1f987bc88f868c14a8fc9f743a263bc734c154015d7e0",
    "rcl_interfaces/srv/SetParametersAtomically": "0e192ef259c07fc3c07a13191d27002222e65e00ccec653ca05e856f79285fcd",
    "rcl_interfaces/srv/ListParameters": "3e6062bfbb27bfb8730d4cef2558221f51a11646d78e7bb30a1e83afac3aad9d",
    "rcl_interfaces/srv/DescribeParameters": "845b484d71eb0673dae682f2e3ba3c4851a65a3dcfb97bddd82c5b57e91e4cff",
    "type_description_interfaces/srv/GetTypeDescription": (
        "69b9c19c1021405984cc60dbbb1edceb147a6538b411d812ba6afabeed962cd5"
    ),
    "action_msgs/srv/CancelGoal": "573d8b0a534451d7bc2ac8c5ffde8ac14b8593b7001175d0cd6516dcbeb8689a",
    "rcl_interfaces/msg/ParameterEvent": "043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204",
    "action_msgs/msg/GoalStatusArray": "6c1684b00f177d37438febe6e709fc4e2b0d4248dca4854946f9ed8b30cda83e",
}
FIBONACCI = "action_tutorials_interfaces/action/Fibonacci"
FIBONACCI_PUBLISHED = {
    "FeedbackMessage": "50fc26b9cac313652ecbeab3adf9b5414d59fd4d4d5f9058ddcc7525169927f1",
    "SendGoal": "a0603060ed69fe2dfbd1a6f3b982a1749957ef346e4a4d2b311a05e305ec37bb",
    "GetResult": "8b47e383f1e31f6d8df6417ab54957e7d5ea24dad315646ad711ac3fdea81d58",
}
# From the C header that rosidl generated for control_msgs (Iron).
FOLLOW = "control_msgs/action/FollowJointTrajectory"
FOLLOW_PUBLISHED = {
    "Goal": "8a9060704b269608f5a340934cc26e66869dd14bdac29e2e7fd9ec8b9882d205",
    "Result": "8002e99ed2c14c6faa522f2a93c26d744c5982f254f9e98ff9c6f19789bdb220",
    "Feedback": "3fd0aaecf71725121ae1ff7f01098a5e0da581e672be18a6b2c286cb43d96b49",
    "SendGoal": "b13789dddc325a7a962825c45e28c77d37237ec129dd0c34dc5994562938c57f",
    "SendGoal_Request": "179c93691f1f6d1d115881ff88c3917b7cc6eac2ba4bf56766cc7c4389e19ef1",
    "SendGoal_Response": "e6a48ba740ae254500129a877f0b071be8663a115da1a539b74599cc97921fbf",
    "SendGoal_Event": "906dd566308db02673c73c654f69bdd84738589629c1bc2841ddb49059ed1c6f",
    "GetResult": "e3ceb38e3e1867c8dc0f46014df26e90eb93422f27e9e97f936e07f94be4bc8b",
    "GetResult_Request": "ecf7ea8463d3beec7084bca75216d0b01b87b6e1e4e09679bb26093041efcbe9",
    "GetResult_Response": "08eefbaa146ce02ba45898d5e99160afd6c4c54a30d159aee0f2ca6035b1580f",
}


@pytest.mark.parametrize("part", sorted(FOLLOW_PUBLISHED))
def test_the_trajectory_action_is_that_of_ros_2(part):
    assert registry(2).rihs01(f"{FOLLOW}_{part}") == f"RIHS01_{FOLLOW_PUBLISHED[part]}"


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_hashes_of_services_and_their_messages_are_those_of_ros_2(name):
    assert registry(2).rihs01(name) == f"RIHS01_{PUBLISHED[name]}"


def test_the_hash_of_a_service_with_plain_fields_is_that_of_ros_2():
    types = Registry(2)
    types.add_services({"example_interfaces/srv/AddTwoInts": ("int64 a\nint64 b\n", "int64 sum\n")})
    wanted = "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a"
    assert types.rihs01("example_interfaces/srv/AddTwoInts") == wanted
    assert types.rihs01("example_interfaces/AddTwoInts") == wanted


@pytest.mark.parametrize("part", sorted(FIBONACCI_PUBLISHED))
def test_hashes_of_what_an_action_consists_of_are_those_of_ros_2(part):
    types = Registry(2)
    messages, services = action_parts(
        "action_tutorials_interfaces/Fibonacci", "int32 order\n", "int32[] sequence\n", "int32[] partial_sequence\n"
    )
    types.add(messages)
    types.add_services(services)
    assert types.rihs01(f"{FIBONACCI}_{part}") == f"RIHS01_{FIBONACCI_PUBLISHED[part]}"


# rosbags takes char for IDL's char; rosidl makes it uint8, as the published hashes of services above show.
@pytest.mark.parametrize("name", sorted(set(NODE_TEXTS) - {"service_msgs/ServiceEventInfo"}))
def test_messages_hash_as_in_another_implementation(name):
    store = get_typestore(Stores.ROS2_JAZZY)
    full = name.replace("/", "/msg/")
    if full not in store.fielddefs:
        pytest.skip("rosbags has no such type")
    assert registry(2).rihs01(name) == store.hash_rihs01(full)


def test_the_names_on_the_wire_keep_their_room():
    types = registry(2)
    assert dds_type_name(types.service("std_srvs/Trigger").request.name) == "std_srvs::srv::dds_::Trigger_Request_"
    assert (
        dds_type_name(types.service("std_srvs/srv/Trigger").response.name) == "std_srvs::srv::dds_::Trigger_Response_"
    )
    goal = types.service("control_msgs/action/FollowJointTrajectory_SendGoal").request.name
    assert dds_type_name(goal) == "control_msgs::action::dds_::FollowJointTrajectory_SendGoal_Request_"
    assert dds_type_name("std_msgs/msg/Float64") == dds_type_name("std_msgs/Float64") == "std_msgs::msg::dds_::Float64_"


def test_ros_1_keeps_its_own_names_and_sums():
    types = registry(1)
    assert types.service("std_srvs/Trigger").response.name == "std_srvs/TriggerResponse"
    assert types.md5sum("std_srvs/Trigger") == "937c9679a518e3a18d831e57125ea522"
    with pytest.raises(WireError, match="no service type"):
        types.service("rcl_interfaces/GetParameters")


def test_a_parameter_value_has_its_golden_bytes():
    codec = Codec(2)
    data = codec.encode("rcl_interfaces/Parameter", {"name": "kp", "value": {"type": 3, "double_value": 0.5}})
    golden = (
        "00010000" "03000000" "6b7000" "03" "00" "00000000000000"
        "0000000000000000" "000000000000e03f" "01000000" "00" "000000"
        "00000000" "00000000" "00000000" "00000000" "00000000"
    )  # fmt: skip
    decoded = codec.decode("rcl_interfaces/Parameter", data)
    assert decoded["name"] == "kp"
    assert decoded["value"]["double_value"] == 0.5
    assert decoded["value"]["type"] == 3
    assert data == bytes.fromhex(golden), data.hex()


def test_a_description_has_all_types_inside_and_gives_the_hash():
    types = registry(2)
    found = types.description("sensor_msgs/JointState")
    assert found["type_description"]["type_name"] == "sensor_msgs/msg/JointState"
    inside = [item["type_name"] for item in found["referenced_type_descriptions"]]
    assert inside == ["builtin_interfaces/msg/Time", "std_msgs/msg/Header"]
    codec = Codec(2)
    kind = "type_description_interfaces/TypeDescription"
    assert codec.decode(kind, codec.encode(kind, found))["type_description"]["fields"][1]["name"] == "name"
