"""Control boards: the motor electronics of a humanoid's parts, described and simulated, without a wire."""

from pliant.base.lazy import lazy_names

_EXPORTS: dict[str, str] = {
    "ControlBoard": "pliant.control_boards.description",
    "ControlBoardDevice": "pliant.control_boards.device",
    "ControlMode": "pliant.control_boards.layout",
    "Coupling": "pliant.control_boards.description",
    "InteractionMode": "pliant.control_boards.layout",
    "JoinedBoard": "pliant.control_boards.joined",
    "add_control_boards": "pliant.control_boards.description",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
