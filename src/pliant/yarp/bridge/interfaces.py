"""Which module serves which device on YARP: a new signature is a module and one line here, or one in a wing."""

from __future__ import annotations

from pliant.simulation.interfaces import InterfaceTable
from pliant.yarp.bridge.served import Served

INTERFACES: InterfaceTable[Served] = InterfaceTable(
    "yarp",
    {
        "control_board": "pliant.yarp.bridge.control_board:serve_control_board",
        "base_state": "pliant.yarp.bridge.sensors:serve_vector",
        "load_cells": "pliant.yarp.bridge.sensors:serve_vector",
        "joint_angles": "pliant.yarp.bridge.sensors:serve_vector",
        "imu": "pliant.yarp.bridge.sensors:serve_imu",
        "wrench": "pliant.yarp.bridge.sensors:serve_wrench",
        "camera": "pliant.yarp.bridge.camera:serve_camera",
        "external_wrench": "pliant.yarp.bridge.external_wrench:serve_external_wrench",
        "laser": "pliant.yarp.bridge.laser:serve_laser",
        "world": "pliant.yarp.bridge.world:serve_world",
        "video_texture": "pliant.yarp.bridge.video_texture:serve_video_texture",
        "model_pose": "pliant.yarp.bridge.model_pose:serve_model_pose",
    },
    otherwise="pliant.yarp.bridge.fields:serve_fields",
)
"""Signature of a device -> function that serves it; every other device is served by its field table."""
