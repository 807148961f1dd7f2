"""A robot as URDF, with ros2_control's tags and what URDF cannot say in extensions that pliant reads again."""

from pliant.formats.export.urdf import UrdfExport, describe_urdf, export_urdf

__all__ = ["UrdfExport", "describe_urdf", "export_urdf"]
