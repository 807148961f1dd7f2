"""A walking controller: gait in the divergent component of motion (DCM), joint torques from contact forces.

Once a period:

1. Estimate. The loaded sole rests where it touched down, so joints and inertial unit give base, centre of mass, DCM.
2. Gait. On both feet the reference of the centre of pressure goes from the old to the new foot, on one foot it stays.
   A foot that carries load ends its swing, early or late.
3. Stabiliser. The centre of pressure corrects the DCM within the sole (`dcm.feedback`). What it cannot correct until
   the touchdown moves the next foothold (`dcm.unreachable_error`).
4. Forces. Height gives the vertical force, centre of pressure and posture give the horizontal one; both feet share
   them.
5. Torques. Loaded legs: tau = tau_gravity - J' F. Swinging leg, torso, arms: joint impedance about inverse kinematics.

It uses what a robot has: orientation and rates of the base, joint positions and velocities, wrenches at the ankles. The
feet are not modelled: the ankle's torque sets the centre of pressure, whatever the sole under it does.

Sources: see `dcm`; torques from forces as in Pratt et al., "Virtual model control", IJRR 20(2), 2001; sharing by the
projection of the centre of pressure as in Kajita et al., "Biped walking stabilization based on linear inverted pendulum
tracking", IROS 2010.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.base.codecache import njit
from pliant.base.numerics import GRAVITY, Array
from pliant.walking.control import dcm
from pliant.walking.control.settings import WalkSettings
from pliant.walking.control.tree import Index, KinematicTree

STAND, DOUBLE, SINGLE = 0, 1, 2
LAST_ADJUSTMENT = 0.06
"""Shortest time in which a swinging foot goes to a foothold that has changed [s]."""  # assumed
DESCENT = 0.3
"""Speed of a swinging foot that has not found the ground in time [m/s]."""  # assumed
DEPTH = 0.04
"""How far below the expected ground it goes [m]."""  # assumed
HORIZON = 4
"""Steps that a reference looks ahead; later ones change it by less than 1e-4 of a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One leg of the robot."""

    links: Index
    """Its links from the base to the foot, as `KinematicTree.limb` gives them."""
    sole: float
    """Depth of the sole under the origin of its last link [m]."""
    side: float
    """1 for the left leg, -1 for the right one."""


@njit(error_model="numpy")
def _contact_torques(links, P, Z, px, py, pz, fx, fy, fz, nz, tau):
    """Subtract J' F of a force at a point and a moment about z from the torques of a limb's joints."""
    for i in links:
        dx, dy, dz = px - P[i, 0], py - P[i, 1], pz - P[i, 2]
        mx, my, mz = dy * fz - dz * fy, dz * fx - dx * fz, dx * fy - dy * fx + nz
        tau[i - 1] -= Z[i, 0] * mx + Z[i, 1] * my + Z[i, 2] * mz


@njit(error_model="numpy")
def _sole_kernel(last, depth, R, P, V, W, out):
    """Write place and velocity of the point of a sole under the ankle, from the base's origin, shape (6,)."""
    r0, r1, r2 = -depth * R[last, 0, 2], -depth * R[last, 1, 2], -depth * R[last, 2, 2]
    w0, w1, w2 = W[last, 0], W[last, 1], W[last, 2]
    out[0], out[1], out[2] = P[last, 0] + r0, P[last, 1] + r1, P[last, 2] + r2
    out[3] = V[last, 0] + w1 * r2 - w2 * r1
    out[4] = V[last, 1] + w2 * r0 - w0 * r2
    out[5] = V[last, 2] + w0 * r1 - w1 * r0


@njit(error_model="numpy")
def _impedance_kernel(links, stiffness, damping, target, rate, q, dq, tau):
    """Add the torques of a joint impedance to those of some joints."""
    for j in range(links.shape[0]):
        i = links[j] - 1
        tau[i] += stiffness[i] * (target[j] - q[i]) + damping[i] * (rate[j] - dq[i])


def _smooth(u: float) -> float:
    """Return the cubic step from 0 at u = 0 to 1 at u = 1, with slopes 0."""
    u = min(max(u, 0.0), 1.0)
    return u * u * (3.0 - 2.0 * u)


class Walker:
    """Walks.

    Args:
        tree: kinematics of the robot; its buffers are used.
        legs: left and right.
        rest: joint positions of the standing robot, shape (n,) [rad].
        settings: gait and gains.
        period: time between two updates [s].
        spacing: lateral distance of the feet [m].
        inertia: of each joint in the standing robot, for `swing_frequency`, shape (n,) [kg m^2].
    """

    def __init__(
        self,
        tree: KinematicTree,
        legs: tuple[Leg, Leg],
        rest: Array,
        settings: WalkSettings,
        period: float,
        spacing: float,
        inertia: Array | None = None,
    ) -> None:
        self.tree, self.legs, self.settings = tree, legs, settings
        self.period, self.spacing = period, spacing
        self.rest = np.array(rest, dtype=float)
        self.mass = tree.total_mass
        moved = {int(i) for leg in legs for i in leg.links}
        self._upper = np.array([i for i in range(1, len(tree.parent)) if i not in moved], dtype=np.int64)
        self._upper_rest = self.rest[self._upper - 1]
        self._still = np.zeros(len(rest))
        ones, w = np.ones(len(rest)), settings.swing_frequency
        self._no_stiffness, self._loaded_damping = 0.0 * ones, settings.ankle_damping * ones
        if w > 0.0 and inertia is not None:
            self._stiffness, self._damping = w * w * inertia, 2.0 * w * inertia
        else:
            self._stiffness, self._damping = settings.swing_stiffness * ones, settings.swing_damping * ones
        self._soles = np.zeros((2, 6))
        self._target = np.eye(3)
        self._twist = np.zeros(6)
        self.tau = np.zeros(len(rest))
        self.reset()

    def reset(self) -> None:
        """Forget everything; the robot stands."""
        self.walking = False
        self.step_length = self.settings.step_length
        self.phase = STAND
        self.stance = 0
        self.time = 0.0
        self.duration = 0.0
        self.steps = 0
        self.fallen = False
        self.base = np.zeros(3)
        self.anchors = [np.zeros(3), np.zeros(3)]
        self.share = [0.5, 0.5]
        self.load = [0.0, 0.0]
        self.dcm = np.zeros(2)
        self.dcm_ref = np.zeros(2)
        self.com = np.zeros(3)
        self.com_velocity = np.zeros(3)
        self.cop = np.zeros(2)
        self.cop_ref = np.zeros(2)
        self.foothold = np.zeros(2)
        self.adjustment = 0.0
        self._from = np.zeros(2)
        self._swing = np.zeros((3, 2))
        self._swing_z = 0.0
        self._lift_off = np.zeros(3)
        self._height = 0.0
        self._target_height = 0.0
        self._leg_q = [self.rest[leg.links - 1].copy() for leg in self.legs]

    # -- commands ------------------------------------------------------------------------------------------------

    def walk(self, step_length: float | None = None) -> None:
        """Start to walk, or go on with another length of step [m]."""
        self.walking = True
        if step_length is not None:
            self.step_length = step_length

    def stop(self) -> None:
        """Stop with the next touchdown."""
        self.walking = False

    # -- one period ----------------------------------------------------------------------------------------------

    def update(self, rotation: Array, rates: Array, q: Array, dq: Array, loads: Sequence[float]) -> Array:
        """Return the joint torques of the next period.

        Args:
            rotation: orientation of the base in the world, yaw 0 along the way, shape (3, 3).
            rates: angular velocity of the base, world axes, shape (3,) [rad/s].
            q: joint positions, shape (n,) [rad].
            dq: joint velocities, shape (n,) [rad/s].
            loads: vertical force of the ground on each foot [N].

        Returns:
            Torques, a view that the next call overwrites, shape (n,) [N m].
        """
        self._estimate(rotation, rates, q, dq, loads)
        self._advance()
        self._stabilise()
        if self.fallen:
            # Limp: torques on a robot that lies would throw it about.
            np.multiply(dq, -self.settings.ankle_damping, out=self.tau)
        else:
            self._torques(rotation, rates, q, dq)
        self.time += self.period
        return self.tau

    def _estimate(self, rotation: Array, rates: Array, q: Array, dq: Array, loads: Sequence[float]) -> None:
        tree = self.tree
        center, velocity = tree.observe(rotation, rates, q, dq)
        soles, rest, base = self._soles, np.zeros(3), np.zeros(3)
        for k, leg in enumerate(self.legs):
            sole = soles[k]
            _sole_kernel(leg.links[-1], leg.sole, tree.R, tree.P, tree.V, tree.W, sole)
            share = self.share[k]
            if share > 0.0:
                base += share * (self.anchors[k] - sole[:3])
                rest -= share * sole[3:]
        if self._height == 0.0:
            # The middle between the feet is the origin.
            base = -0.5 * (soles[0, :3] + soles[1, :3])
            rest[:] = 0.0
            self.anchors = [base + soles[0, :3], base + soles[1, :3]]
            self._height = float(base[2] + center[2])
            self.omega = math.sqrt(GRAVITY / self._height)
            self.load = [0.5 * GRAVITY * self.mass] * 2
        self.base = base
        self.com = base + center
        self.com_velocity = rest + velocity
        self.base_velocity = rest
        self.dcm = self.com[:2] + self.com_velocity[:2] / self.omega
        a = min(1.0, self.period / 0.01)
        for k in range(2):
            self.load[k] += a * (loads[k] - self.load[k])
        up = rotation[2, 2]
        self.fallen = self.fallen or up < 0.6 or self.com[2] - min(a[2] for a in self.anchors) < 0.6 * self._height

    def _reference_point(self, foot: int) -> Array:
        """Return the reference of the centre of pressure on a foot."""
        anchor = self.anchors[foot]
        return np.array([anchor[0] + self.settings.center_of_pressure, anchor[1]])

    # -- gait ----------------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        s = self.settings
        if self.phase == STAND:
            self.share = [0.5, 0.5]
            if self.walking:
                # The left foot takes the load, the right one goes first.
                self._begin_double(0, s.first_support)
        elif self.phase == DOUBLE:
            if self.time >= self.duration:
                other = 1 - self.stance
                late = self.time > self.duration + 0.3
                if not self._going:
                    self.phase, self.time = STAND, 0.0
                elif self.share[self.stance] > 0.6 or late:
                    self.phase, self.time, self.duration = SINGLE, 0.0, s.single_support
                    self._begin_swing(other)
        else:
            swing = 1 - self.stance
            early = self.time > 0.5 * self.duration and self.load[swing] > s.contact_force
            if early or self.time > self.duration + 0.5:
                self.steps += 1
                self.anchors[swing] = self.base + self._soles[swing, :3]
                self._begin_double(swing, s.double_support)

    def _begin_double(self, stance: int, duration: float) -> None:
        """Give the load to a foot; the other one will swing."""
        if self.phase == STAND:
            self._from = 0.5 * (self._reference_point(0) + self._reference_point(1))
        else:
            self._from = self._reference_point(1 - stance)
        self.phase, self.time, self.duration, self.stance = DOUBLE, 0.0, duration, stance
        self._going = self.walking

    def _begin_swing(self, foot: int) -> None:
        position = self.base + self._soles[foot, :3]
        self._lift_off = position.copy()
        self._swing[:] = 0.0
        self._swing[0] = position[:2]
        # The lower of both feet: one that stands on an obstacle does not raise the ground for the other.
        self._target_height = float(min(anchor[2] for anchor in self.anchors))

    def _nominal(self, stance: int) -> tuple[float, float]:
        """Return the foothold that follows a stance foot, x and y of its sole point."""
        return float(self.anchors[stance][0]) + self.step_length, -self.legs[stance].side * 0.5 * self.spacing

    def _plan(self, axis: int, p: float, next_p: float, stance: int) -> float:
        """Return the reference of the DCM at the touchdown on next_p, coming from p, along one axis."""
        s = self.settings
        if not self.walking:
            middle = 0.5 * (p + next_p)
            return dcm.reference([(s.double_support, p, middle)], self.omega)
        segments = []
        side = -self.legs[stance].side
        before = p
        for _ in range(HORIZON):
            segments += [(s.double_support, before, next_p), (s.single_support, next_p, next_p)]
            side = -side
            before = next_p
            next_p = next_p + self.step_length if axis == 0 else side * 0.5 * self.spacing
        segments.append((s.double_support, before, 0.5 * (before + next_p)))
        return dcm.reference(segments, self.omega)

    # -- stabiliser ----------------------------------------------------------------------------------------------

    def _stabilise(self) -> None:
        s, omega = self.settings, self.omega
        stance = self.stance
        low = (s.support_back - s.center_of_pressure, -s.support_side)
        high = (s.support_front - s.center_of_pressure, s.support_side)
        if self.phase == STAND:
            p_ref = 0.5 * (self._reference_point(0) + self._reference_point(1))
            xi_ref = p_ref
        elif self.phase == DOUBLE:
            p_end = self._reference_point(stance)
            if not self._going:
                p_end = 0.5 * (p_end + self._reference_point(1 - stance))
            left = max(0.0, self.duration - self.time)
            f = 1.0 - left / self.duration
            p_ref = self._from + f * (p_end - self._from)
            xi_ref = np.empty(2)
            for axis in range(2):
                if self._going:
                    u = self._nominal(stance)[axis] + (s.center_of_pressure if axis == 0 else 0.0)
                    end = self._plan(axis, float(p_end[axis]), u, stance)
                    later = (s.single_support, float(p_end[axis]), float(p_end[axis]))
                    xi_ref[axis] = dcm.reference([(left, float(p_ref[axis]), float(p_end[axis])), later], omega, end)
                else:
                    xi_ref[axis] = dcm.reference([(left, float(p_ref[axis]), float(p_end[axis]))], omega)
        else:
            p_ref = self._reference_point(stance)
            left = max(self.duration - self.time, 0.0)
            xi_ref = np.empty(2)
            nominal = self._nominal(stance)
            for axis in range(2):
                shift = s.center_of_pressure if axis == 0 else 0.0
                p = float(p_ref[axis])
                end = self._plan(axis, p, nominal[axis] + shift, stance)
                xi_ref[axis] = p + (end - p) * math.exp(-omega * left)
                error = float(self.dcm[axis] - xi_ref[axis])
                rest = max(left, LAST_ADJUSTMENT)
                move = dcm.unreachable_error(error, 0.8 * low[axis], 0.8 * high[axis], omega, rest)
                move = min(max(move, -s.max_adjustment), s.max_adjustment)
                u = nominal[axis] + move
                if axis == 1:
                    # The feet stay apart.
                    side, y = -self.legs[stance].side, float(self.anchors[stance][1])
                    u = y + side * max(side * (u - y), s.min_spacing)
                self.foothold[axis] = u
                moved = self.foothold[axis] - nominal[axis]
                self.adjustment = max(self.adjustment, abs(moved))
                xi_ref[axis] += moved * math.exp(-omega * left)
        self.dcm_ref, self.cop_ref = xi_ref, p_ref
        p = np.empty(2)
        for axis in range(2):
            p[axis] = dcm.feedback(float(self.dcm[axis]), float(xi_ref[axis]), float(p_ref[axis]), omega, s.dcm_rate)
        self._distribute(p, low, high)

    def _distribute(self, p: Array, low: tuple[float, float], high: tuple[float, float]) -> None:
        """Choose share and centre of pressure of each foot, so that together they have the one that is wanted."""
        one, other = self._reference_point(0), self._reference_point(1)
        (x0, y0), (x1, y1) = one.tolist(), other.tolist()
        px, py = p.tolist()
        if self.phase == SINGLE:
            right = float(self.stance)
        else:
            dx, dy = x1 - x0, y1 - y0
            right = min(max(((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy), 0.0), 1.0)
        self.share = [1.0 - right, right]
        shift = np.array(
            [
                min(max(px - x0 - right * (x1 - x0), low[0]), high[0]),
                min(max(py - y0 - right * (y1 - y0), low[1]), high[1]),
            ]
        )
        self.points = [one + shift, other + shift]
        self.cop = (1.0 - right) * self.points[0] + right * self.points[1]

    # -- torques -------------------------------------------------------------------------------------------------

    def _torques(self, rotation: Array, rates: Array, q: Array, dq: Array) -> None:
        s, tree, tau = self.settings, self.tree, self.tau
        np.multiply(tree.hold, GRAVITY, out=tau)
        ground = self.share[0] * self.anchors[0][2] + self.share[1] * self.anchors[1][2]
        height = float(self.com[2] - ground)
        push = s.height_stiffness * (self._height - height) - s.height_damping * float(self.com_velocity[2])
        fz = self.mass * min(max(GRAVITY + push, 0.3 * GRAVITY), 1.8 * GRAVITY)
        # Moment about the centre of mass that turns the base upright and along the way.
        (_, r01, r02), (r10, _, r12), (r20, r21, _) = rotation.tolist()
        w0, w1, w2 = rates.tolist()
        kp, kd = 0.5 * s.posture_stiffness, s.posture_damping
        mx, my, mz = kp * (r12 - r21) - kd * w0, kp * (r20 - r02) - kd * w1, kp * (r01 - r10) - kd * w2
        rx, ry = (self.cop - self.com[:2]).tolist()
        fx = (-my - rx * fz) / height
        fy = (mx - ry * fz) / height
        bound = 0.5 * fz
        fx, fy = min(max(fx, -bound), bound), min(max(fy, -bound), bound)
        nz = min(max(mz, -8.0), 8.0)
        for k, leg in enumerate(self.legs):
            share = self.share[k]
            links = leg.links
            if self.phase == SINGLE and k != self.stance:
                self._swing_torques(k, rotation, rates, q, dq)
                continue
            point = self.points[k] - self.base[:2]
            z = float(self._soles[k, 2])
            _contact_torques(
                links, tree.P, tree.Z, point[0], point[1], z, share * fx, share * fy, share * fz, share * nz, tau
            )
            _impedance_kernel(links, self._no_stiffness, self._loaded_damping, self._still, self._still, q, dq, tau)
            if s.ankle_stiffness > 0.0:
                self._level(leg, dq)
            self._leg_q[k] = q[links - 1].copy()
        still = self._still
        _impedance_kernel(self._upper, self._stiffness, self._damping, self._upper_rest, still, q, dq, tau)

    def _level(self, leg: Leg, dq: Array) -> None:
        """Add the stiffness of a loaded ankle towards a level foot: moment on the foot, on its joints."""
        tree, last = self.tree, int(leg.links[-1])
        R = tree.R[last]
        ex, ey = 0.5 * (R[1, 2] - R[2, 1]), 0.5 * (R[2, 0] - R[0, 2])
        for i in leg.links[-2:]:
            self.tau[i - 1] += self.settings.ankle_stiffness * (tree.Z[i, 0] * ex + tree.Z[i, 1] * ey)

    def _swing_torques(self, k: int, rotation: Array, rates: Array, q: Array, dq: Array) -> None:
        s, leg, tree = self.settings, self.legs[k], self.tree
        dt = self.period
        left = self.duration - self.time
        phase = min(self.time / self.duration, 1.0)
        # Horizontal: minimum jerk to the foothold from where the reference is.
        T = max(left - 0.06 * self.duration, LAST_ADJUSTMENT)
        x, v, a = self._swing
        if phase > s.rise:
            # First the foot rises where it is, so that an obstacle before the toe does not catch it.
            jerk = 60.0 * (self.foothold - x) / T**3 - 36.0 * v / T**2 - 9.0 * a / T
            x += dt * v
            v += dt * a
            a += dt * jerk
        # Vertical: up, along, down; below the ground until it touches.
        top = max(self._target_height, float(self.anchors[self.stance][2])) + s.lift
        low = float(self._lift_off[2])
        z = low + (top - low) * _smooth(phase / 0.4) - (top - self._target_height) * _smooth((phase - 0.6) / 0.4)
        if left < 0.0:
            z = max(z + DESCENT * left, self._target_height - DEPTH)
        vz = 0.0 if self.time <= 0.0 else (z - self._swing_z) / dt
        if self.time <= dt:
            vz = 0.0
        self._swing_z = z
        pitch = -s.toe_up * _smooth(phase / max(s.rise, 0.05)) * (1.0 - _smooth((phase - 0.6) / 0.35))
        c, sn = math.cos(pitch), math.sin(pitch)
        target = self._target
        target[0, 0], target[0, 2], target[2, 0], target[2, 2] = c, sn, -sn, c
        place = np.array([x[0], x[1], z]) - self.base + leg.sole * target[:, 2]
        links = leg.links
        wanted, _, J = tree.solve_limb(links, rotation.T @ target, rotation.T @ place, self._leg_q[k], iterations=2)
        self._leg_q[k] = wanted
        wx, wy, wz = rates.tolist()
        px, py, pz = place.tolist()
        ux, uy, uz = self.base_velocity.tolist()
        relative = np.array([v[0] - ux - wy * pz + wz * py, v[1] - uy - wz * px + wx * pz, vz - uz - wx * py + wy * px])
        self._twist[:3] = relative @ rotation
        self._twist[3:] = -rates @ rotation
        rate = tree.limb_rates(J, self._twist)
        _impedance_kernel(links, self._stiffness, self._damping, wanted, rate, q, dq, self.tau)
