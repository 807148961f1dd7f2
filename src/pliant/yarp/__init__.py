"""YARP: wire, ports, name server, services, client, commands, the iCub."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {"Network": "pliant.yarp.client.network:YarpNetwork"}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
