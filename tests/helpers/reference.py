"""The original toolbox restated in plain numpy, as an independent second opinion.

Written from the equations of Mengacci et al. 2021 (doi 10.3389/frobt.2021.713083) and from the order of operations of
the published code, without a line of pliant: laws, DC motor, PID and the seven modes. Springs clip flat; motors start
at 0 unless told otherwise. Every function takes real or complex angles (complex ones for complex-step derivatives).
"""

from dataclasses import dataclass, field

import numpy as np


def sat(x, m):
    """Clip by the real part, so that a complex step passes through."""
    x = np.asarray(x)
    return np.where(x.real > m, m, np.where(x.real < -m, -m, x))


def inside(x, m):
    return np.abs(np.asarray(x).real) <= m


@dataclass
class Sea:
    k: float = 10.0
    max_deflection: float = 0.8
    motors = 1

    def values(self, q, t1, t2):
        """Return (torque, load 1, load 2, reported stiffness, true stiffness, energy)."""
        delta = sat(q - t1, self.max_deflection)
        e = (q - t1) - delta
        load = -self.k * delta
        reported = self.k * np.ones(np.shape(delta))
        true = self.k * inside(q - t1, self.max_deflection)
        return load, load, 0.0 * load, reported, true, self.k * delta**2 / 2 + self.k * delta * e

    def map(self, equilibrium, preset):
        return equilibrium, 0.0


@dataclass
class Qb:
    k1: float = 0.0019
    a1: float = 8.9992
    k2: float = 0.0019
    a2: float = 8.9992
    max_deflection: float = 0.8
    motors = 2

    def values(self, q, t1, t2):
        loads, reported, true, energy = [], 0.0, 0.0, 0.0
        for theta, k, a in ((t1, self.k1, self.a1), (t2, self.k2, self.a2)):
            delta = sat(q - theta, self.max_deflection)
            e = (q - theta) - delta
            loads.append(-k * np.sinh(a * delta))
            slope = a * k * np.cosh(a * delta)
            reported = reported + slope
            true = true + slope * inside(q - theta, self.max_deflection)
            energy = energy + k / a * (np.cosh(a * delta) - 1) + k * np.sinh(a * delta) * e
        return loads[0] + loads[1], loads[0], loads[1], reported, true, energy

    def map(self, equilibrium, preset):
        return equilibrium + preset, equilibrium - preset


@dataclass
class Bavs:
    a: float = 1.21e-6
    b: float = 2.38e-6
    k: float = 1.60e5
    k_e: float = 8.71
    max_deflection: float = 0.27
    motors = 2

    def values(self, q, t1, t2):
        loads, reported, true, energy = [], 0.0, 0.0, 0.0
        for theta, up, down in ((t1, self.b, self.a), (t2, self.a, self.b)):
            d = sat(theta - q, self.max_deflection)
            e = (theta - q) - d
            grow, fall = up * np.exp(self.k_e * d), down * np.exp(-self.k_e * d)
            loads.append(self.k * (grow - fall))
            slope = self.k * self.k_e * (grow + fall)
            reported = reported + slope
            true = true + slope * inside(theta - q, self.max_deflection)
            energy = energy + self.k / self.k_e * (grow + fall) + loads[-1] * e
        return loads[0] + loads[1], loads[0], loads[1], reported, true, energy

    def map(self, equilibrium, preset):
        return equilibrium + preset, equilibrium - preset


@dataclass
class Awas:
    Ks: float = 10.0
    L: float = 0.05
    r_t: float = 0.015
    max_deflection: float = 0.3
    motors = 2

    def values(self, q, t1, sigma):
        delta = sat(q - t1, self.max_deflection)
        e = (q - t1) - delta
        ratio = self.L / self.r_t * sigma / (self.L - sigma)
        torque = -self.Ks * ratio**2 * np.sin(2 * delta)
        # The original has no force on the lever; this is dH/dsigma.
        slope = 2 * self.Ks * (self.L / self.r_t) ** 2 * sigma * self.L / (self.L - sigma) ** 3
        force = slope * (np.sin(delta) ** 2 + np.sin(2 * delta) * e)
        reported = 2 * self.Ks * ratio**2 * np.cos(2 * delta)
        true = reported * inside(q - t1, self.max_deflection)
        energy = self.Ks * ratio**2 * (np.sin(delta) ** 2 + np.sin(2 * delta) * e)
        return torque, torque, force, reported, true, energy

    def map(self, equilibrium, preset):
        return equilibrium, preset


LAWS = {"sea": Sea, "qbmove": Qb, "bavs": Bavs, "awas_ii": Awas}


@dataclass
class Motor:
    """One motor: saturate, slide the friction anchor, accelerate, move, stop."""

    J: float = 0.0233
    D: float = 0.2698
    tau_max: float = 6.0
    low: float = -np.inf
    high: float = np.inf
    friction: float = 0.02
    K_f: float = 1000.0
    pos: float = 0.0
    vel: float = 0.0
    w: float = 0.0
    effort: float = 0.0

    def step(self, u, load, h):
        u = min(max(u, -self.tau_max), self.tau_max)
        z = self.friction / self.K_f
        if self.pos - self.w < -z:
            self.w = self.pos + z
        elif self.pos - self.w > z:
            self.w = self.pos - z
        acceleration = (u - load - self.K_f * (self.pos - self.w) - self.D * self.vel) / self.J
        self.vel += h * acceleration
        self.pos += h * self.vel
        self.effort = u
        for beyond, stop in ((self.pos < self.low, self.low), (self.pos > self.high, self.high)):
            if beyond:
                self.pos, self.vel = stop, 0.0


@dataclass
class Pid:
    kp: float = 125.0
    ki: float = 0.0
    kd: float = 4.5
    integral: float = 0.0

    def step(self, ref, pos, vel, h):
        e = ref - pos
        self.integral += self.ki * e * h
        return self.integral + self.kp * e + self.kd * (0.0 - vel)


@dataclass
class Actuator:
    """The step of the toolbox's joint plugins in its seven modes."""

    law: object
    mode: int
    motor_1: Motor = field(default_factory=Motor)
    motor_2: Motor = field(default_factory=Motor)
    pid_1: Pid = field(default_factory=Pid)
    pid_2: Pid = field(default_factory=Pid)

    def torques(self, q):
        return self.law.values(q, self.motor_1.pos, self.motor_2.pos)

    def step(self, q, dq, ref_1, ref_2, h):
        """Return the torque on the link for the step that begins with (q, dq)."""
        two = self.law.motors == 2
        if self.mode == 0:
            return ref_1
        if self.mode == 1:
            return self.pid_1.step(ref_1, q, dq, h)
        if self.mode in (3, 6):
            ref_1, ref_2 = self.law.map(ref_1, ref_2)
        if self.mode in (2, 3):
            return float(self.law.values(q, ref_1, ref_2)[0])
        old = [float(x) for x in self.torques(q)]
        if self.mode == 4:
            self.motor_1.step(ref_1, old[1], h)
            if two:
                self.motor_2.step(ref_2, old[2], h)
            return old[0]
        u = self.pid_1.step(ref_1, self.motor_1.pos, self.motor_1.vel, h)
        self.motor_1.step(u, old[1], h)
        if two:
            u = self.pid_2.step(ref_2, self.motor_2.pos, self.motor_2.vel, h)
            self.motor_2.step(u, old[2], h)
        return float(self.torques(q)[0])

    def run(self, q, dq, ref_1, ref_2, h):
        """Return torques and the motors' states after each step, shapes (n,) and (n, 6)."""
        n = len(q)
        torque, states = np.empty(n), np.empty((n, 6))
        for i in range(n):
            torque[i] = self.step(q[i], dq[i], ref_1[i], ref_2[i], h)
            a, b = self.motor_1, self.motor_2
            states[i] = a.pos, a.vel, a.effort, b.pos, b.vel, b.effort
        return torque, states


def free_joint(actuator, inertia, damping, gravity_torque, q, refs_1, refs_2, h, external=0.0):
    """Simulate one joint with the actuator on it, semi-implicit Euler, joint damping implicit as MuJoCo takes it.

    Returns q and dq after each step, and the torque of each step.
    """
    dq, out = 0.0, []
    for r1, r2 in zip(refs_1, refs_2):
        torque = actuator.step(q, dq, r1, r2, h)
        force = torque + external + gravity_torque(q) - damping * dq
        dq += h * force / (inertia + h * damping)
        q += h * dq
        out.append((q, dq, torque))
    return np.array(out).T
