"""Declaration of the wing ``yarp``."""

from pliant.base.wing import BridgeEntry, Wing

WING = Wing(
    name="yarp",
    summary="YARP without YARP: ports, name server, control boards, the iCub",
    builds_on=("control_boards",),
    commands={
        "yarp": "pliant.yarp.commands.yarp:yarp",
        "yarpserver": "pliant.yarp.commands.yarpserver:yarpserver",
    },
    bridges={
        "yarp": BridgeEntry(
            "YARP: ports for programs of YARP 3 and 4, with a name server", "pliant.yarp.bridge.bridge:make"
        ),
    },
    controllers={"yarp": "pliant.yarp.policy:YARP"},
    listeners={"yarp": BridgeEntry("the state ports of a robot on YARP", "pliant.yarp.listening:listen")},
    robots={"icub": "pliant.yarp.robots.icub.build"},
    scenarios={"push-icub": "pliant.yarp"},
    blocks={"external_wrench": "pliant.yarp.model.services:EXTERNAL_WRENCH"},
    devices=(
        "pliant.yarp.devices.base_state",
        "pliant.yarp.devices.external_wrench",
        "pliant.yarp.devices.joint_angles",
        "pliant.yarp.devices.load_cells",
        "pliant.yarp.devices.model_pose",
        "pliant.yarp.devices.video_texture",
    ),
    benchmarks=("yarp.py",),
)
