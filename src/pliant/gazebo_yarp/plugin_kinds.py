"""The kinds of YARP plugins: the device, the board or the servers that each asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

from pliant.base.documents.xml_tree import line_of
from pliant.base.errors import ModelError, WireError, nearest
from pliant.formats.tags import Tags, link_of
from pliant.gazebo_yarp.control_board import read_control_board, read_fake_board
from pliant.gazebo_yarp.ini import Group, parse_list
from pliant.gazebo_yarp.places import Severity
from pliant.gazebo_yarp.plugin_reader import Pending, Plugin, PluginReader
from pliant.gazebo_yarp.robot_interface import read_robot_interface
from pliant.model.problem import Problem
from pliant.model.sensors import Camera, ForceTorque, Imu, Laser
from pliant.yarp.model.services import (
    SKIN_BOARDS,
    BaseState,
    CameraImages,
    ClockPort,
    ContactLoadCells,
    ExternalWrench,
    ForceTorqueSensor,
    InertialSensor,
    JointAngles,
    LaserScan,
    LinkAttacher,
    ModelPose,
    SkinInertials,
    VideoTexture,
    WorldInterface,
)

MAX_LOAD_CELLS = 1000


def control_board(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    initial = _initial(reader, plugin, config)
    wrapper = config.group("WRAPPER")
    networks = wrapper.words("networks") if wrapper is not None else ()
    drivers = [network for network in networks if network in config.groups]
    if drivers and len(drivers) > 1 and initial is not None:
        raise config.fault("initialConfiguration with several networks is not read; must be one network a board")
    bare = config.flag("disableImplicitNetworkWrapper")
    if drivers:
        for driver in drivers:
            name = config.groups[driver].text("name", driver)
            _add_board(reader, plugin, config, name, initial, driver, alias=driver)
    elif config.has("jointNames") or wrapper is None:
        name = reader.common(plugin, config, config.text("name", plugin.name).rpartition("/")[2])["name"]
        _add_board(reader, plugin, config, name, initial, "")
        networks = networks or (name,)
    if wrapper is not None and not bare:
        kind = wrapper.text("device", "controlboardwrapper2")
        targets = [(network, network) for network in networks]
        reader.pending.append(Pending(kind, wrapper, f"{plugin.name}/wrapper", targets))


def _add_board(
    reader: PluginReader,
    plugin: Plugin,
    config: Group,
    name: str,
    initial: tuple[float, ...] | None,
    driver: str,
    alias: str = "",
) -> None:
    key = alias or name
    if key in reader.hardware.boards or any(c.board.name == name for c in reader.hardware.boards.values()):
        raise reader.fault(plugin, f"there is another control board called {name!r}", "yarpDeviceName")
    found = read_control_board(config, reader.joints_of(plugin), name=name, initial=initial, driver=driver)
    reader.hardware.boards[key] = found
    reader.problems += found.problems


def _initial(reader: PluginReader, plugin: Plugin, config: Group) -> tuple[float, ...] | None:
    text = reader.tag(plugin, "initialConfiguration", config.text("yarpDeviceName", ""))
    if not text:
        return config.numbers("initialConfiguration") if config.has("initialConfiguration") else None
    tags = Tags(plugin.element, f"plugin {plugin.name!r}", reader.file)
    numbers = []
    for word in text.replace(",", " ").split():
        try:
            numbers.append(float(word))
        except ValueError:
            numbers.append(math.nan)
    if not all(map(math.isfinite, numbers)):
        raise tags.fault(f"<initialConfiguration> is {text!r}; must be finite numbers", "initialConfiguration")
    return tuple(numbers)


def fake_board(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    wrapper = config.group("WRAPPER")
    networks = wrapper.words("networks") if wrapper is not None else ()
    common = reader.common(plugin, config, networks[0] if networks else plugin.name)
    reader.hardware.boards[common["name"]] = read_fake_board(config, name=common["name"])
    if wrapper is not None and not config.flag("disableImplicitNetworkWrapper"):
        kind = wrapper.text("device", "controlboardwrapper2")
        targets = [(network, common["name"]) for network in networks] or [("", common["name"])]
        reader.pending.append(Pending(kind, wrapper, f"{plugin.name}/wrapper", targets))


def force_torque(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    sensor = reader.sensor(plugin, config, ForceTorque)
    if sensor is None:
        return
    reader.add(plugin, config, sensor.name, ForceTorqueSensor, sensor=sensor.name, sensor_name=sensor.name)


def imu(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    sensor = reader.sensor(plugin, config, Imu)
    if sensor is None:
        return
    # The IMU of modern Gazebo itself measures since the start; the classic plugin asks for that by a flag.
    modern = "gazebo_yarp" not in plugin.element.get("filename", "")
    relative = config.flag("useInitialSensorOrientationAsReference", modern)
    shown = {"sensor": sensor.name, "sensor_name": sensor.name, "relative_orientation": relative}
    reader.add(plugin, config, sensor.name, InertialSensor, **shown)


def skin_inertials(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    driver = _group(config, "PART_DRIVER")
    driver.required("enabledSensors", "the names of the sensors, in order")
    names = driver.words("enabledSensors")
    sensors = [reader.described(plugin, name, "", Imu) for name in names]
    if any(sensor is None for sensor in sensors):
        return
    part = driver.text("robotPart")
    if part not in SKIN_BOARDS:
        reader.skip(plugin, f"robotPart is {part!r}, which has no skin boards", nearest(part, SKIN_BOARDS))
        return
    boards, most = SKIN_BOARDS[part]
    for name in names:
        kind, _, label = name.rpartition("::")[2].rpartition("_")
        if label not in boards or kind.rpartition("_")[2] not in ("acc", "gyro"):
            valid = f"must end in _acc_ or _gyro_ and one of {', '.join(boards)}"
            reader.skip(plugin, f"enabledSensors has {name!r}, which is no sensor of the skin of {part}", valid)
            return
    if not 0 < len(names) <= most:
        text = f"enabledSensors has {len(names)} names; must be 1 to {most} of {part}"
        raise driver.fault(text, "enabledSensors")
    used = tuple(s.name for s in sensors if s is not None)
    reader.add(plugin, config, f"{part}_inertials", SkinInertials, part=part, sensors=used, sensor_names=names)


def _group(config: Group, name: str) -> Group:
    group = config.group(name)
    if group is None:
        raise config.fault(f"the group [{name}] is missing")
    return group


def camera(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    _images(reader, plugin, config, depth=False)


def depth_camera(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    _images(reader, plugin, config, depth=True)


def _images(reader: PluginReader, plugin: Plugin, config: Group, *, depth: bool) -> None:
    sensor = reader.sensor(plugin, config, Camera)
    if sensor is None:
        return
    if depth and not sensor.depth:
        reader.skip(plugin, f"the camera {sensor.name!r} gives no depth", "must be a sensor of type depth or rgbd")
        return
    if depth:
        reader.found.colored.add(sensor.name)  # the plugin sends both images, also of a sensor of type depth
    quantum = None
    quant = config.group("QUANT_PARAM")
    if quant is not None and quant.has("depth_quant"):
        quantum = int(quant.number("depth_quant", least=0, most=9, whole=True))
    stamp = config.flag("display_timestamp") or config.flag("display_time_box")
    reader.add(
        plugin,
        config,
        sensor.name,
        CameraImages,
        sensors=(sensor.name,),
        depth=depth,
        depth_quantum=quantum,
        **_flips(config),
    )
    if stamp:
        name = config.text("yarpDeviceName", sensor.name)
        reader.problems.append(Problem("info", name, "the time is not drawn into the images", "envelopes carry it"))


def _flips(config: Group) -> dict[str, bool]:
    return {f"flip_{way}": config.flag(f"{way}_flip") for way in ("vertical", "horizontal")}


def several_cameras(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    if not plugin.sensor:
        raise reader.fault(plugin, "it is in no <sensor>; must be in one of type multicamera", "sensor")
    eyes = [s for s in reader.sensors if isinstance(s, Camera) and s.name.startswith(f"{plugin.sensor}_")]
    vertical = config.flag("vertical")
    if len(eyes) < 2:
        reader.skip(plugin, f"the sensor {plugin.sensor!r} has {len(eyes)} cameras", "must be two or more <camera>")
        return
    if len({eye.width if vertical else eye.height for eye in eyes}) > 1:
        side = "width" if vertical else "height"
        reader.skip(plugin, f"its cameras have different {side}s", f"must have the same {side} to be joined")
        return
    reader.found.used.update(eye.name for eye in eyes)
    names = tuple(eye.name for eye in eyes)
    reader.add(plugin, config, plugin.sensor, CameraImages, sensors=names, vertical=vertical, **_flips(config))


def laser(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    sensor = reader.sensor(plugin, config, Laser)
    if sensor is None:
        return
    ranges: dict[str, tuple[float, float] | None] = {"clip": None, "discard": None}
    general = config.group("GENERAL")
    for kind in ranges if general is not None else ():
        if general is not None and general.flag(f"enable_{kind}_range"):
            ranges[kind] = _range(general, f"{kind}_min_range", f"{kind}_max_range")
    if general is not None and all(ranges.values()):
        raise general.fault("enable_clip_range and enable_discard_range are both on; must be one of them")
    if config.has("min_distance") and config.has("max_distance") and not ranges["clip"]:
        ranges["clip"] = _range(config, "min_distance", "max_distance")
    reader.add(
        plugin,
        config,
        sensor.name,
        LaserScan,
        sensor=sensor.name,
        range_clip=ranges["clip"],
        range_discard=ranges["discard"],
        skipped=_skipped(config),
    )


def _range(group: Group, low: str, high: str) -> tuple[float, float]:
    group.required(low, "a distance [m]")
    group.required(high, "a distance [m]")
    least, most = group.number(low, 0.0), group.number(high, 0.0)
    if not (math.isfinite(most) and 0.0 <= least < most):
        raise group.fault(f"{low} {least:g} and {high} {most:g}; must be 0 <= min < max", low)
    return least, most


def _skipped(config: Group) -> tuple[tuple[float, float], ...]:
    """Return the sectors of the group [SKIP] in radians."""
    group = config.group("SKIP")
    if group is None:
        return ()
    starts, ends = group.numbers("min") or (), group.numbers("max") or ()
    pairs = list(zip(starts, ends, strict=False))
    if len(starts) != len(ends) or not all(0.0 <= a < b <= 360.0 for a, b in pairs):
        raise group.fault("min and max must be as many angles from 0 to 360 [deg], each min below its max", "min")
    return tuple((math.radians(a), math.radians(b)) for a, b in pairs)


def clock(reader: PluginReader, plugin: Plugin) -> None:
    port = reader.tag(plugin, "portName") or reader.tag(plugin, "port") or "/clock"
    if not port.startswith("/"):
        raise reader.fault(plugin, f"the port is {port!r}; must begin with '/'", "port")
    reader.put(
        ClockPort(
            name="clock",
            port=port,
            file=None if reader.file is None else str(reader.home(plugin)),
            line=line_of(plugin.element),
        )
    )


def _port(config: Group) -> str:
    port = config.text("name")
    if not port.startswith("/"):
        raise config.fault(f"name is {port!r}; must be a port, which begins with '/'", "name")
    return port


def world_interface(reader: PluginReader, plugin: Plugin) -> None:
    """Read a world interface: of gazebo-yarp-plugins with its own port, of gz-sim-yarp-plugins with a server before it.

    The device of the latter is called worldInterfaceName unless its configuration says otherwise.
    """
    tags = ("yarpConfigurationString", "yarpConfigurationFile")
    config = reader.config(plugin) if any(reader.tag(plugin, tag) for tag in tags) else Group(file=reader.home(plugin))
    if config is None:
        return
    classic = "gazebo_yarp" in plugin.element.get("filename", "")
    common = reader.common(plugin, config, plugin.name if classic else "worldInterfaceName")
    port = _port(config) if config.has("name") or classic else ""
    reader.put(WorldInterface(**common, port=port, synchronous=config.flag("synchro", True)))


def link_attacher(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    common = reader.common(plugin, config, plugin.name)
    startup = config.group("STARTUP")
    requests = []
    for key, entry in startup.entries.items() if startup is not None else ():
        values = [w for v in entry.values for w in (v if isinstance(v, tuple) else (v,))]
        requests.append((key, *map(str, values)))
    kind = config.choice("jointType", ("fixed", "revolute"), "fixed")
    joint_type: Literal["fixed", "revolute"] = "fixed" if kind == "fixed" else "revolute"
    reader.put(LinkAttacher(**common, port=_port(config), joint_type=joint_type, startup=tuple(requests)))


def external_wrench(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    common = reader.common(plugin, config, plugin.name)
    keys = ("robot", "robotName", "gazeboYarpPluginsRobotName")
    robot = next((config.text(key) for key in keys if config.has(key)), reader.model_name(plugin) or "robot")
    reader.put(ExternalWrench(**common, port=f"/{robot.strip('/')}/applyExternalWrench/rpc:i"))


def base_state(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    driver = config.group("DRIVER") or config
    link = reader.link(plugin, driver, "baseLink")
    reader.add(plugin, config, f"{link}_state", BaseState, link=link)


def load_cells(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    driver = config.group("DRIVER") or config
    link = reader.link(plugin, driver, "linkName")
    driver.required("loadCellNames", "the names of the cells")
    cells = driver.words("loadCellNames")
    if len(cells) > MAX_LOAD_CELLS:
        raise driver.fault(f"there are {len(cells)} load cells; must be at most {MAX_LOAD_CELLS}", "loadCellNames")
    columns = []
    for axis in "XYZ":
        driver.required(f"loadCell{axis}", "one coordinate a cell [m]")
        columns.append(driver.numbers(f"loadCell{axis}", len(cells), what="the load cells") or ())
    positions = tuple(zip(*columns, strict=True))
    reader.add(plugin, config, f"{link}_load_cells", ContactLoadCells, link=link, cells=cells, positions=positions)


def joint_angles(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    groups = [g for g in (config, *config.groups.values()) if g.has("jointNames")]
    if not groups:
        raise config.fault(f"plugin {plugin.name!r} (maissensor): the key 'jointNames' is missing")
    names = tuple(word.rpartition("::")[2] for word in groups[0].words("jointNames"))
    unknown = next((n for n in names if n not in reader.joints), None)
    if unknown is not None:
        raise groups[0].fault(f"jointNames has {unknown!r}; {nearest(unknown, reader.joints)}", "jointNames")
    name = config.text("sensorName", plugin.name)
    reader.add(plugin, config, name, JointAngles, joints=names, sensor_name=name)


def robot_interface(reader: PluginReader, plugin: Plugin) -> None:
    tag = "yarpRobotInterfaceConfigurationFile"
    if not reader.tag(plugin, tag):
        raise reader.fault(plugin, f"<{tag}> is missing", tag)
    path = reader.resource(plugin, tag)
    if path is None:
        return

    def words(name: str) -> list[str]:
        try:
            items = parse_list(reader.tag(plugin, name))
        except WireError as error:
            raise reader.fault(plugin, f"<{name}>: {error.message}", name) from error
        flat = items[0] if len(items) == 1 and isinstance(items[0], tuple) else items
        return [str(item) for item in flat]

    prefix = reader.tag(plugin, "yarpRobotInterfacePortPrefix") or None
    if reader.tag(plugin, "yarpRobotInterfaceOverridePortPrefixWithModelName").lower() in ("true", "1"):
        prefix = f"/{reader.model_name(plugin).lstrip('/')}"
    try:
        reader.interfaces.append(
            read_robot_interface(
                path,
                port_prefix=prefix,
                enabled=words("yarpRobotInterfaceEnableTags"),
                disabled=words("yarpRobotInterfaceDisableTags"),
            )
        )
    except ModelError as error:
        if error.field != "href":
            raise
        reader.skip(plugin, str(error), "the files of the package are incomplete")


def model_pose(reader: PluginReader, plugin: Plugin) -> None:
    tags = Tags(plugin.element, f"plugin {plugin.name!r}", reader.file)
    # Seconds, as gazebo-yarp-plugins' source has it.
    period = tags.number("period", 0.01, least=1e-4, most=1e3)
    reader.put(ModelPose(name="model_pose", period=period, link=_first_link(plugin), model=reader.model_name(plugin)))


def _first_link(plugin: Plugin) -> str:
    """Return the link that no other carries; the world is no link of a model."""
    carried = {"world"}
    for joint in plugin.models[0].iter("joint"):
        parent, child = (link_of(joint, end) for end in ("parent", "child"))
        if parent != "world":
            carried.add(child)
    links = [link.get("name", "") for link in plugin.models[0].iter("link")]
    return next((link for link in links if link and link not in carried), "")


def video_texture(reader: PluginReader, plugin: Plugin, config: Group) -> None:
    texture = VideoTexture(
        **reader.common(plugin, config, plugin.name),
        link=plugin.link,
        visual=plugin.visual or "",
        port=f"/{reader.model_name(plugin) or 'robot'}::{plugin.link}::{plugin.visual or plugin.link + '_visual'}",
        width=int(config.number("widthRes", 640, least=1, most=8192, whole=True)),
        height=int(config.number("heightRes", 480, least=1, most=8192, whole=True)),
        source=config.text("defaultSourcePortName", ""),
    )
    if plugin.visual is None:
        reader.skip(plugin, "it stands in no <visual>", "must be inside the <visual> of a link")
    else:
        reader.put(texture)


def _configured(read: Callable[[PluginReader, Plugin, Group], None]) -> Callable[[PluginReader, Plugin], None]:
    """Return a reader of plugins that have a configuration; those whose file is missing are left out."""

    def read_configured(reader: PluginReader, plugin: Plugin) -> None:
        config = reader.config(plugin)
        if config is not None:
            read(reader, plugin, config)

    return read_configured


READERS: Mapping[str, Callable[[PluginReader, Plugin], None]] = {
    "controlboard": _configured(control_board),
    "fakecontrolboard": _configured(fake_board),
    "forcetorque": _configured(force_torque),
    "imu": _configured(imu),
    "inertialmtb": _configured(skin_inertials),
    "inertialmtbpart": _configured(skin_inertials),
    "distributedinertials": _configured(skin_inertials),
    "camera": _configured(camera),
    "depthcamera": _configured(depth_camera),
    "multicamera": _configured(several_cameras),
    "lasersensor": _configured(laser),
    "laser": _configured(laser),
    "clock": clock,
    "worldinterface": world_interface,
    "linkattacher": _configured(link_attacher),
    "externalwrench": _configured(external_wrench),
    "robotinterface": robot_interface,
    "basestate": _configured(base_state),
    "contactloadcellarray": _configured(load_cells),
    "maissensor": _configured(joint_angles),
    "modelposepublisher": model_pose,
    "videotexture": _configured(video_texture),
}
"""Readers of plugins, by the name of the plugin in lower case."""
UNSERVED: Mapping[str, tuple[Severity, str]] = {
    "stereodepthcamera": (
        "warning",
        "a stereo sensor is not simulated; describe a multicamera, or one of type rgbd",
    ),
    "doublelaser": ("warning", "two lasers as one are not simulated"),
    "jointsensors": (
        "warning",
        "it was removed from gazebo-yarp-plugins; its values are in the state of the control board",
    ),
    "showmodelcom": ("info", "the centre of mass is shown by the viewer"),
}
"""Plugins that are known and not served, and why."""
