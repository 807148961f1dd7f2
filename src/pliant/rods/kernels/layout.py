"""Offsets into the arrays of the kernels, given out by one declaration for each array, and named numbers.

A `Layout` gives out offsets in order, so that a field is inserted or widened at one place. numba reads the constants
below as literals.
"""

from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    """Numbers of one meaning in an array."""

    offset: int
    """Index of the first number."""
    width: int
    """How many numbers there are."""
    description: str
    """Meaning and unit."""


LAYOUTS: list[Layout] = []
"""Every layout of this module."""


class Layout:
    """Fields of one array, in order.

    Args:
        array: the array that is laid out.
    """

    def __init__(self, array: str) -> None:
        self.array = array
        self.fields: list[Field] = []
        LAYOUTS.append(self)

    @property
    def size(self) -> int:
        """Number of numbers that are laid out so far."""
        return sum(field.width for field in self.fields)

    def add(self, description: str, width: int = 1) -> int:
        """Append a field and return its offset."""
        offset = self.size
        self.fields.append(Field(offset, width, description))
        return offset

    def add_three(self, description: str, width: int = 1) -> tuple[int, int, int]:
        """Append three fields, one per axis, and return their offsets."""
        return self.add(f"{description}, 1st axis", width), self.add(f"{description}, 2nd axis", width), self.add(
            f"{description}, 3rd axis", width
        )  # fmt: skip


# a row of a rod's table: what the rod is at one stage of one integration step
_table = Layout("Model.table[limb, row]")
SHEAR_1, SHEAR_2, AXIAL = _table.add_three("1 / Kse, cross-section axes [1/N]")
BEND_1, BEND_2, TWIST = _table.add_three("1 / Kbt, cross-section axes [1/(N m^2)]")
CURVATURE_1, CURVATURE_2, CURVATURE_3 = _table.add_three("curvature u0 of the undeformed rod [1/m]")
LOAD_X, LOAD_Y, LOAD_Z = _table.add_three("integral F of the distributed force from the base, world [N/m]")
COUPLE_X, COUPLE_Y, COUPLE_Z = _table.add_three("distributed moment l, world [N]")
TABLE_WIDTH = _table.size

# a record of the integrator: the state of a rod at one abscissa, and its sensitivities
LANES = 8
"""Sensitivity columns of one pass of the integrator."""
_record = Layout("record of the integrator")
DPHI_X, DPHI_Y, DPHI_Z = _record.add_three("turn dphi of the cross-section by column, world [rad]", LANES)
DP_X, DP_Y, DP_Z = _record.add_three("displacement dp by column, world [m]", LANES)
DM_X, DM_Y, DM_Z = _record.add_three("change dm of the moment by column, world [N m]", LANES)
STATE = _record.size
"""Where the state begins in a record."""
P_X, P_Y, P_Z = _record.add_three("position p, world [m]")
Q_W = _record.add("quaternion of the cross-section, of any norm: w")
Q_X, Q_Y, Q_Z = _record.add_three("quaternion of the cross-section, of any norm")
M_X, M_Y, M_Z = _record.add_three("moment m, world [N m]")
_record.add("unused, so that records begin at multiples of eight numbers", 6)
RECORD = _record.size

# Work.w: one array for all records, so that the compiler sees that rows do not overlap, and vectorises
STAGES = 12
"""Stages of the integration formula."""
_memory = Layout("Work.w")
_memory.add("record of the state, which `advance` moves along the rod", RECORD)
STAGE = _memory.add("record of the state at a stage", RECORD)
SLOPE = _memory.add("record of the slope of this stage", RECORD)
SLOPES = _memory.add("records of the slopes of the stages", STAGES * RECORD)
DN_X, DN_Y, DN_Z = _memory.add_three("change dn of the force at the base by column, world [N]", LANES)
DN = DN_X
WORK_SIZE = _memory.size

# Work.side: the states of several rods side by side, a rod a lane, one array for the reason above
RODS = 8
"""Rods whose states are integrated side by side."""
_side_state = Layout("record of states side by side")
SIDE_P_X, SIDE_P_Y, SIDE_P_Z = _side_state.add_three("position p, world [m]", RODS)
SIDE_Q_W = _side_state.add("quaternion of the cross-section, of any norm: w", RODS)
SIDE_Q_X, SIDE_Q_Y, SIDE_Q_Z = _side_state.add_three("quaternion of the cross-section, of any norm", RODS)
SIDE_M_X, SIDE_M_Y, SIDE_M_Z = _side_state.add_three("moment m, world [N m]", RODS)
SIDE_RECORD = _side_state.size
_side = Layout("Work.side")
_side.add("record of the states, which `advance_side` moves along the rods", SIDE_RECORD)
SIDE_STAGE = _side.add("record of the states at a stage", SIDE_RECORD)
SIDE_SLOPE = _side.add("record of the slopes of this stage", SIDE_RECORD)
SIDE_SLOPES = _side.add("records of the slopes of the stages", STAGES * SIDE_RECORD)
SIDE_ROW = _side.add("row of each rod's table, times its rest length", TABLE_WIDTH * RODS)
SIDE_FORCE = _side.add("force at each base, world [N]", 3 * RODS)
SIDE_LENGTH = _side.add("rest length of each rod [m]", RODS)
SIDE_SIZE = _side.size

# the state at a rod's tip or at a point of `survey`; a node of multiple shooting has its first NODE_SIZE numbers
_tip = Layout("Work.tips[limb]")
TIP_P = _tip.add("position, world [m]", 3)
TIP_Q = _tip.add("unit quaternion (w, x, y, z)", 4)
TIP_M = _tip.add("moment, world [N m]", 3)
NODE_SIZE = _tip.size
TIP_N = _tip.add("force, world [N]", 3)
TIP_LENGTH = _tip.add("rest length of the rod [m]")
TIP_SIZE = _tip.size

# a pose
_pose = Layout("pose")
_pose.add("rotation, row-major", 9)
POS_X, POS_Y, POS_Z = _pose.add_three("position [m]")
POSE_SIZE = _pose.size

# columns of the gradients of a joint's rows by the tip, and so rows of a tip's sensitivities
_by_tip = Layout("Work.g[row], Work.cols[limb]")
BY_PHI = _by_tip.add("by the turn of the tip, world [rad]", 3)
BY_P = _by_tip.add("by the displacement of the tip, world [m]", 3)
BY_M = _by_tip.add("by the moment in the tip, world [N m]", 3)
BY_N = _by_tip.add("by the force in the tip, world [N]", 3)

# columns of the gradients by the plate
_by_plate = Layout("Work.dx[limb, row], Work.bx[row]")
BY_PLATE_P = _by_plate.add("by the displacement of the plate's origin, world [m]", 3)
BY_PLATE_PHI = _by_plate.add("by the turn of the plate, world [rad]", 3)

# unknowns of a limb, and so columns of its sensitivities
_unknowns = Layout("Work.d[limb, row], Work.cols[limb, row]")
FORCE_COLUMN = _unknowns.add("base force, world [N]", 3)
MOMENT_COLUMN = _unknowns.add("base moment, world [N m]", 3)
JOINT_COLUMN = _unknowns.add("base joint values [m or rad]; behind the last one the affine column", 10)
COLUMNS = _unknowns.size

# rows of a limb's residual, and of the gradients by the tip
_rows = Layout("Work.r[limb]")
POSITION_ROW = _rows.add("position of the distal joint; along a slider the force instead", 3)
ROTATION_ROW = _rows.add("rotation of the distal joint; at the end, for its free axes, moments instead", 3)
PASSIVE_ROW = _rows.add("force or moment along each passive base joint", 9)
_gradients = Layout("Work.g")
_gradients.add("of the rows of the distal joint", 6)
PLATE_FORCE_ROW = _gradients.add("of the force on the plate", 3)
PLATE_MOMENT_ROW = _gradients.add("of the moment on the plate", 3)

# Model.size, Model.scale
_size = Layout("Model.size")
LIMBS = _size.add("limbs")
JOINTS = _size.add("most base joints of a limb")
ACTUATORS = _size.add("actuators")
FREEDOMS = _size.add("freedoms of the plate, 6 or 3")
UNKNOWNS = _size.add("unknown wrench components of a limb, 6 or 3")
_scale = Layout("Model.scale")
FORCE = _scale.add("force that counts as much as one metre [N]")
MOMENT = _scale.add("moment that counts as much as one metre [N m]")

# what `solve` writes for each row
_report = Layout("Rows.report[row]")
RESIDUAL = _report.add("largest scaled residual")
STEPS = _report.add("Newton steps")
INTEGRATIONS = _report.add("integrations with sensitivities")
MARGIN = _report.add("margin of the plate's stiffness before the last step, NO_MARGIN without a step")
REPORT_SIZE = _report.size
NO_MARGIN = -1.0

# kinds of joints
PRISMATIC, REVOLUTE, EXTENSION = range(3)
FIXED_JOINT, REVOLUTE_JOINT, UNIVERSAL_JOINT, SPHERICAL_JOINT, PRISMATIC_JOINT = range(5)

# limits of `solve` that are no number of Newton steps, and what `survey` returns in place of a count
LINEARISE_ONLY = 0
"""Limit of `solve`: evaluate and linearise, take no step."""
RESIDUAL_ONLY = -1
"""Limit of `solve`: evaluate without sensitivities."""
SINGULAR_CUT = -1
"""`survey` cannot count: a cut lies at a singular point of the rod; another number of cuts does it."""
