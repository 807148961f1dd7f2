"""Declaration of the wing ``control_boards``."""

from pliant.base.wing import Wing

WING = Wing(
    name="control_boards",
    summary="Control boards: modes, trajectories, controllers, impedance and limits of the axes of a humanoid's part",
    commanders={"control_board": "pliant.control_boards.commander:BoardCommander"},
    blocks={"boards": "pliant.control_boards.description:BOARDS"},
    devices=("pliant.control_boards.device",),
)
