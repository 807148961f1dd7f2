"""The parameters of the toolbox on the server of ROS 1."""

from __future__ import annotations

from pliant.bridges.ros.served import Served

__all__ = ["set_parameters"]


def set_parameters(served: Served) -> None:
    """Set what the toolbox's YAML file sets, and ``use_sim_time``.

    ``/namespace`` belongs to the robot that came first: the toolbox has one for all robots of a master.
    """
    put = served.transport.set_param
    if served.options.clock:
        put("/use_sim_time", True)
    if served.transport.get_param("/namespace") in (None, served.namespace):
        put("/namespace", served.namespace)
    manager = served.interface.manager
    if manager is not None:
        put("/T_sample", manager.sample_time)
        put("/joints_number", len(manager.joints))
        put("/joints_name", list(manager.joints))
        put("/ref1_topic_name", [f"/{r}" for r in manager.ref_1])
        put("/ref2_topic_name", [f"/{r}" for r in manager.ref_2])
