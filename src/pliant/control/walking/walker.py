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
from numpy.typing import NDArray

from pliant.codecache import njit
from pliant.control.walking import dcm
from pliant.control.walking.settings import WalkSettings
from pliant.control.walking.tree import Index, KinematicTree

__all__ = ["Leg", "Walker"]

Array = NDArray[np.float64]
GRAVITY = 9.81
STAND, DOUBLE, SINGLE = 0, 1, 2
LAST_ADJUSTMENT = 0.08
"""Time before the touchdown after which a foothold stays [s]."""  # assumed
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


class Walker:
    """Walks.

    Args:
        tree: kinematics of the robot; its buffers are used.
        legs: left and right.
        rest: joint positions of the standing robot, shape (n,) [rad].
        settings: gait and gains.
        period: time between two updates [s].
        spacing: lateral distance of the feet [m].
    """

    def __init__(
        self,
        tree: KinematicTree,
        legs: tuple[Leg, Leg],
        rest: Array,
        settings: WalkSettings,
        period: float,
        spacing: float,
    ) -> None:
        self.tree, self.legs, self.settings = tree, legs, settings
        self.period, self.spacing = period, spacing
        self.rest = np.array(rest, dtype=float)
        self.mass = tree.total_mass
        self._upper = np.array(sorted(set(range(1, len(tree.parent))) - {int(i) for leg in legs for i in leg.links}))
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
        self._torques(rotation, rates, q, dq)
        self.time += self.period
        return self.tau

    def _estimate(self, rotation: Array, rates: Array, q: Array, dq: Array, loads: Sequence[float]) -> None:
        tree = self.tree
        center, velocity = tree.observe(rotation, rates, q, dq)
        soles, rest = [], np.zeros(3)
        base = np.zeros(3)
        for k, leg in enumerate(self.legs):
            last = int(leg.links[-1])
            r = -leg.sole * tree.R[last, :, 2]
            sole = tree.P[last] + r
            soles.append(sole)
            w = tree.W[last]
            if self._height == 0.0:
                continue
            share = self.share[k]
            if share > 0.0:
                v = tree.V[last]
                base += share * (self.anchors[k] - sole)
                rest[0] -= share * (v[0] + w[1] * r[2] - w[2] * r[1])
                rest[1] -= share * (v[1] + w[2] * r[0] - w[0] * r[2])
                rest[2] -= share * (v[2] + w[0] * r[1] - w[1] * r[0])
        if self._height == 0.0:
            # The middle between the feet is the origin.
            base = -0.5 * (soles[0] + soles[1])
            self.anchors = [base + soles[0], base + soles[1]]
            self._height = float(base[2] + center[2])
            self.omega = math.sqrt(GRAVITY / self._height)
            self.load = [0.5 * GRAVITY * self.mass] * 2
        self.base, self.soles = base, soles
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
            if early or self.time > self.duration + 0.3:
                self.steps += 1
                self.anchors[swing] = self.base + self.soles[swing]
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
        position = self.base + self.soles[foot]
        self._lift_off = position.copy()
        self._swing[:] = 0.0
        self._swing[0] = position[:2]
        self._target_height = float(self.anchors[self.stance][2])

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
                if left > LAST_ADJUSTMENT or self.time < 2.0 * self.period:
                    error = float(self.dcm[axis] - xi_ref[axis])
                    move = dcm.unreachable_error(error, 0.8 * low[axis], 0.8 * high[axis], omega, left)
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
        points = [self._reference_point(0), self._reference_point(1)]
        if self.phase == SINGLE:
            self.share = [0.0, 0.0]
            self.share[self.stance] = 1.0
            rest = p - points[self.stance]
        else:
            line = points[1] - points[0]
            right = float((p - points[0]) @ line) / float(line @ line)
            right = min(max(right, 0.0), 1.0)
            self.share = [1.0 - right, right]
            rest = p - points[0] - right * line
        rest = np.minimum(np.maximum(rest, low), high)
        self.points = [points[0] + rest, points[1] + rest]
        self.cop = self.share[0] * self.points[0] + self.share[1] * self.points[1]

    # -- torques -------------------------------------------------------------------------------------------------

    def _torques(self, rotation: Array, rates: Array, q: Array, dq: Array) -> None:
        s, tree, tau = self.settings, self.tree, self.tau
        np.multiply(tree.hold, GRAVITY, out=tau)
        ground = self.share[0] * self.anchors[0][2] + self.share[1] * self.anchors[1][2]
        height = float(self.com[2] - ground)
        push = s.height_stiffness * (self._height - height) - s.height_damping * float(self.com_velocity[2])
        fz = self.mass * min(max(GRAVITY + push, 0.3 * GRAVITY), 1.8 * GRAVITY)
        # Moment about the centre of mass that turns the base upright and along the way.
        e = 0.5 * np.array(
            [rotation[1, 2] - rotation[2, 1], rotation[2, 0] - rotation[0, 2], rotation[0, 1] - rotation[1, 0]]
        )
        moment = s.posture_stiffness * e - s.posture_damping * rates
        rx, ry = self.cop - self.com[:2]
        fx = (-float(moment[1]) - rx * fz) / height
        fy = (float(moment[0]) - ry * fz) / height
        bound = 0.5 * fz
        fx, fy = min(max(fx, -bound), bound), min(max(fy, -bound), bound)
        nz = min(max(float(moment[2]), -8.0), 8.0)
        for k, leg in enumerate(self.legs):
            share = self.share[k]
            links = leg.links
            if self.phase == SINGLE and k != self.stance:
                self._swing_torques(k, rotation, q, dq)
                continue
            point = self.points[k] - self.base[:2]
            z = float(self.soles[k][2])
            _contact_torques(
                links, tree.P, tree.Z, point[0], point[1], z, share * fx, share * fy, share * fz, share * nz, tau
            )
            for i in links:
                tau[i - 1] -= s.ankle_damping * dq[i - 1]
            if s.ankle_stiffness > 0.0:
                self._level(leg, dq)
            self._leg_q[k] = q[links - 1].copy()
        for i in self._upper:
            tau[i - 1] += s.swing_stiffness * (self.rest[i - 1] - q[i - 1]) - s.swing_damping * dq[i - 1]

    def _level(self, leg: Leg, dq: Array) -> None:
        """Add the stiffness of a loaded ankle towards a level foot: moment on the foot, on its joints."""
        tree, last = self.tree, int(leg.links[-1])
        R = tree.R[last]
        ex, ey = 0.5 * (R[1, 2] - R[2, 1]), 0.5 * (R[2, 0] - R[0, 2])
        for i in leg.links[-2:]:
            self.tau[i - 1] += self.settings.ankle_stiffness * (tree.Z[i, 0] * ex + tree.Z[i, 1] * ey)

    def _swing_torques(self, k: int, rotation: Array, q: Array, dq: Array) -> None:
        s, leg, tree = self.settings, self.legs[k], self.tree
        dt = self.period
        left = self.duration - self.time
        phase = min(self.time / self.duration, 1.0)
        # Horizontal: minimum jerk to the foothold from where the reference is.
        T = max(left - 0.06 * self.duration, 0.0)
        x, v, a = self._swing
        if 3.0 * dt < T:
            jerk = 60.0 * (self.foothold - x) / T**3 - 36.0 * v / T**2 - 9.0 * a / T
            x += dt * v
            v += dt * a
            a += dt * jerk
        else:
            v[:] = 0.0
            a[:] = 0.0
        # Vertical: up, along, down; below the ground until it touches.
        top = self._target_height + s.lift
        if phase < 0.4:
            u = phase / 0.4
            z = self._lift_off[2] + (top - self._lift_off[2]) * u * u * (3.0 - 2.0 * u)
        elif phase < 0.6:
            z = top
        else:
            u = (phase - 0.6) / 0.4
            z = top + (self._target_height - top) * u * u * (3.0 - 2.0 * u)
        if left < 0.0:
            z = max(z + 0.15 * left, self._target_height - 0.03)
        vz = 0.0 if self.time <= 0.0 else (z - self._swing_z) / dt
        if self.time <= dt:
            vz = 0.0
        self._swing_z = z
        pitch = -s.toe_up * math.sin(math.pi * phase) ** 2
        c, sn = math.cos(pitch), math.sin(pitch)
        target = np.array([[c, 0.0, sn], [0.0, 1.0, 0.0], [-sn, 0.0, c]])
        place = np.array([x[0], x[1], z]) - self.base + leg.sole * target[:, 2]
        links = leg.links
        wanted, _, J = tree.solve_limb(links, rotation.T @ target, rotation.T @ place, self._leg_q[k], iterations=2)
        self._leg_q[k] = wanted
        w = tree.W[0]
        relative = np.array([v[0], v[1], vz]) - self.base_velocity - np.cross(w, place)
        twist = np.concatenate([rotation.T @ relative, rotation.T @ -w])
        rate = tree.limb_rates(J, twist)
        for j, i in enumerate(links):
            self.tau[i - 1] += s.swing_stiffness * (wanted[j] - q[i - 1]) + s.swing_damping * (rate[j] - dq[i - 1])
