"""YARP: wire, ports, name server, control boards, readers of its files, client, commands, the iCub."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "ControlBoard": "pliant.yarp.model.control_board",
    "Coupling": "pliant.yarp.model.control_board",
    "Network": "pliant.yarp.client.network:YarpNetwork",
    "add_control_boards": "pliant.yarp.model.control_board",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
