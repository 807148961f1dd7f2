"""A layout of Foxglove's panels for one robot: 3D view, curves of each device, cameras, commands, parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import ModuleType

from pliant.devices.base import Command, FieldInfo, SampleSource
from pliant.devices.signatures import JOINT
from pliant.foxglove.commands import command_json
from pliant.recording.sample_message import MessageTypes, has_images, sample_topic

MAX_PLOTS = 12
"""Most devices with a tab of curves."""
MAX_PANELS = 6
"""Most panels of one kind beside each other."""
MAX_CURVES = 8
"""Most elements of an array that are drawn."""


def make_layout(layouts: ModuleType, devices: Mapping[str, SampleSource], extent: float) -> str:
    """Return the layout as JSON.

    Args:
        layouts: the module ``foxglove.layouts``.
        devices: name -> device.
        extent: size of the robot, for the distance of the camera [m].
    """
    fl = layouts
    numbers = {name: device for name, device in devices.items() if not has_images(device)}
    # Joints before boards that repeat them: those that take commands come first.
    order = sorted(numbers, key=lambda name: not numbers[name].commands)
    plots = [_tab(fl, name, _plots(fl, name, numbers[name])) for name in order[:MAX_PLOTS]]
    control = [
        _tab(fl, f"{name} command", _publish(fl, name, device))
        for name, device in devices.items()
        if device.commands and device.inbox.accepted
    ][:MAX_PANELS]
    right: list[object] = [fl.TabContainer(tabs=plots)] if plots else []
    right.append(fl.TabContainer(tabs=[*control, _tab(fl, "Parameters", fl.ParametersPanel())]))
    left: list[object] = [fl.SplitItem(proportion=2, content=_scene(fl, extent))]
    cameras = [name for name, device in devices.items() if "image" in device.samples][:MAX_PANELS]
    if cameras:
        tabs = [_tab(fl, name, _image(fl, sample_topic(name))) for name in cameras]
        left.append(fl.SplitItem(proportion=1, content=fl.TabContainer(tabs=tabs)))
    content = fl.SplitContainer(
        direction="row",
        items=[
            fl.SplitItem(proportion=1, content=fl.SplitContainer(direction="column", items=left)),
            fl.SplitItem(
                proportion=1,
                content=fl.SplitContainer(
                    direction="column",
                    items=[fl.SplitItem(proportion=2 - k, content=item) for k, item in enumerate(right)],
                ),
            ),
        ],
    )
    return json.dumps(json.loads(fl.Layout(content=content).to_json()), indent=2) + "\n"


def _tab(fl: ModuleType, title: str, content: object) -> object:
    return fl.TabItem(title=title, content=content)


def _scene(fl: ModuleType, extent: float) -> object:
    camera = fl.ThreeDeeCameraState(
        distance=2.5 * max(extent, 0.1), perspective=True, phi=65.0, theta_offset=40.0, target_offset=(0.0, 0.0, 0.0)
    )
    config = fl.ThreeDeeConfig(
        camera_state=camera,
        fixed_frame="world",
        follow_tf="world",
        follow_mode="follow-none",
        topics={"/scene": fl.BaseRendererSceneUpdateTopicSettings(visible=True)},
    )
    return fl.ThreeDeePanel(title="Robot", config=config)


def _plots(fl: ModuleType, name: str, device: SampleSource) -> object:
    """Return curves of a device: a plot for each unit."""
    columns = MessageTypes().make(name, device.samples).columns
    by_unit: dict[str, list[tuple[str, FieldInfo]]] = {}
    for field, info in device.samples.items():
        by_unit.setdefault(info.unit, []).append((columns[field], info))
    panels = []
    for unit, fields in list(by_unit.items())[:MAX_PANELS]:
        series = []
        for column, info in fields:
            path = f"{sample_topic(name)}.{column}"
            for k in range(min(info.size, MAX_CURVES)) if info.shape else (None,):
                value, label = (path, column) if k is None else (f"{path}[{k}]", f"{column}[{k}]")
                series.append(fl.PlotSeries(value=value, label=label, timestamp_method="receiveTime"))
        config = fl.PlotConfig(
            paths=series[: 2 * MAX_CURVES],
            show_legend=True,
            x_axis_val="timestamp",
            y_axis_label=unit or "-",
            time_window_mode="sliding",
            following_view_width=10.0,
        )
        panels.append(fl.SplitItem(proportion=1, content=fl.PlotPanel(title=f"{name} [{unit or '-'}]", config=config)))
    return fl.SplitContainer(direction="column", items=panels)


def _publish(fl: ModuleType, name: str, device: SampleSource) -> object:
    accepted = [mode for mode in device.commands if mode in device.inbox.accepted]
    mode = device.mode.name.lower() if JOINT.live(device) else accepted[0]
    fields = device.commands[mode]
    zeros = {field: min(max(0.0, info.low), info.high) for field, info in fields.items()}
    values = {field: [zeros[field]] * info.size if info.shape else zeros[field] for field, info in fields.items()}
    text = command_json(Command(0, mode, values)).decode()  # type: ignore[arg-type]
    config = fl.PublishConfig(
        topic_name=f"{sample_topic(name)}/command",
        datatype=f"pliant.{name}.command",
        button_text=f"Send to {name}",
        advanced_view=True,
        value=json.dumps(json.loads(text), indent=2),
    )
    return fl.PublishPanel(title=f"{name} command", config=config)


def _image(fl: ModuleType, topic: str) -> object:
    mode = fl.ImageModeConfig(image_topic=f"{topic}/image", calibration_topic=f"{topic}/calibration")
    return fl.ImagePanel(title=topic[1:], config=fl.ImageConfig(image_mode=mode))
