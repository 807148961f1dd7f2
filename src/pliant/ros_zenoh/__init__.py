"""ROS 2 on zenoh: the wire of rmw_zenoh_cpp, without ROS 2, and the bridge on it."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {"ZenohNode": "pliant.ros_zenoh.node", "ZenohOptions": "pliant.ros_zenoh.bridge"}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
