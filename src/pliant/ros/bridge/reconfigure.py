"""Mode and gains of a joint, as dynamic_reconfigure serves parameters: rqt_reconfigure shows sliders for them."""

from __future__ import annotations

from pliant.base.errors import DeviceError, nearest
from pliant.devices.signatures import JointDevice
from pliant.ros.bridge.topics import RosTopics
from pliant.ros.wire.message import Message
from pliant.simulation.answers import answered
from pliant.simulation.live_parameters import joint_gains

FOLLOW_RATE = 10.0
"""How often changes by others are looked for [Hz]."""


def serve_reconfigure(topics: RosTopics, device: JointDevice) -> None:
    """Serve set_parameters, parameter_descriptions and parameter_updates of one joint."""
    base = topics.name(device.joint)
    doubles = joint_gains(device)

    def present() -> Message:
        return {
            "ints": [{"name": "operation_mode", "value": int(device.mode)}],
            "doubles": [{"name": key, "value": device.gains[key]} for key in doubles],
            "groups": [{"name": "Default", "state": True}],
        }

    config = present()

    def limits(low: bool) -> Message:
        return {
            "ints": [{"name": "operation_mode", "value": 0 if low else 6}],
            "doubles": [{"name": key, "value": 0.0 if low else 1e6} for key in doubles],
            "groups": config["groups"],
        }

    described = [("operation_mode", "int", "mode of the toolbox, 0 to 6")]
    described += [(key, "double", f"gain of motor {key[-1]}") for key in doubles]
    codec = topics.node.codec
    description = {
        "groups": [
            {
                "name": "Default",
                "parameters": [
                    {"name": n, "type": kind, "level": 0, "description": text} for n, kind, text in described
                ],
            }
        ],
        "max": limits(False),
        "min": limits(True),
        "dflt": config,
    }
    about = topics.advertise(f"{base}/parameter_descriptions", "dynamic_reconfigure/ConfigDescription", latch=True)
    about.send(codec.encode("dynamic_reconfigure/ConfigDescription", description))
    updates = topics.advertise(f"{base}/parameter_updates", "dynamic_reconfigure/Config", latch=True)

    def tell() -> bytes:
        """Send what is in force; a client shows what others, or a reset, have changed."""
        data = codec.encode("dynamic_reconfigure/Config", present())
        updates.send(data)
        return data

    last = [tell()]

    def follow(_: int) -> None:
        if codec.encode("dynamic_reconfigure/Config", present()) != last[0]:
            last[0] = tell()

    topics.at(FOLLOW_RATE, follow)

    def answer(request: Message) -> Message:
        asked = request["config"]
        kinds = {"operation_mode": "ints", **dict.fromkeys(doubles, "doubles")}
        for kind, name in ((k, item["name"]) for k in ("ints", "doubles", "strs", "bools") for item in asked[k]):
            if name not in kinds:
                raise DeviceError(f"{device.joint} has no parameter {name!r}; {nearest(name, kinds)}", field=name)
            if kind != kinds[name]:
                raise DeviceError(f"{device.joint}: {name} is among {kind}; must be among {kinds[name]}", field=name)
        for item in asked["ints"]:
            if int(item["value"]) != int(device.mode):
                answered(device.request("set_mode", mode=int(item["value"])))
        for motor in (1, 2):
            gains = {i["name"][:2]: i["value"] for i in asked["doubles"] if i["name"].endswith(f"_{motor}")}
            if gains:
                answered(device.request("set_gains", motor=motor, **gains))
        last[0] = tell()
        return {"config": present()}

    topics.serve(f"{base}/set_parameters", "dynamic_reconfigure/Reconfigure", answer)
