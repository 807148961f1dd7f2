"""Devices: what the robot's electronics is, seen by the loop, the bridges and the recorder."""

from pliant.devices.base import Command, Device, DeviceBase, FieldInfo, Mailbox, Noise, Sample, request

__all__ = ["Command", "Device", "DeviceBase", "FieldInfo", "Mailbox", "Noise", "Sample", "request"]
