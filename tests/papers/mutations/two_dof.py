"""What breaks the statements and checks of ``two-dof``."""

from mutations import Mutation

from pliant.papers import two_dof


def _robot(**paths):
    """Return a patch that multiplies parameters of every robot that is built."""

    def patch(monkeypatch):
        build = two_dof.build_robot

        def broken(name, options=None):
            robot = build(name, options)
            robot.update({path.replace("__", "."): value for path, value in paths.items()})
            return robot

        monkeypatch.setattr(two_dof, "build_robot", broken)

    return patch


def _simulate(**changes):
    """Return a patch that gives every simulated arm other options than the experiment says."""

    def patch(monkeypatch):
        simulate = two_dof.simulate
        monkeypatch.setattr(two_dof, "simulate", lambda *args, **given: simulate(*args, **{**given, **changes}))

    return patch


def _damped_by_the_step(monkeypatch):
    simulate = two_dof.simulate
    monkeypatch.setattr(
        two_dof,
        "simulate",
        lambda *args, timestep, **given: simulate(*args, timestep=timestep, **{**given, "damping": 500.0 * timestep}),
    )


STEP_ENDS = ("Step: final equilibrium, *",)

MUTATIONS = [
    Mutation(
        experiment="two-dof",
        name="the motors' controllers have a tenth of their gain",
        patch=_robot(actuator__pid_1__kp=0.05, actuator__pid_2__kp=0.05),
        turns=(*STEP_ENDS, "Sinusoid: RMS error of the equilibrium, *", "Sinusoid: RMS lag of the motors, *"),
    ),
    Mutation(
        experiment="two-dof",
        name="no dry friction",
        options={"friction": 0.0},
        turns=("Step: final link angle, soft, *",),
    ),
    Mutation(
        experiment="two-dof",
        name="dry friction that the stiff spring cannot overcome",
        options={"friction": 0.8},
        turns=(
            "Step: final link angle, stiff, *",
            "Step: turning points of the stiff link, joint_1",
            "Step: turning points of the stiff link over those of the soft one, joint_1",
        ),
    ),
    Mutation(
        experiment="two-dof",
        name="the simulated friction is not that of the statics",
        patch=_simulate(friction=0.6),
        turns=("Step: final link angle minus equilibrium, *",),
    ),
    Mutation(
        experiment="two-dof",
        name="the hanging arm lies",
        patch=_simulate(mounting="horizontal"),
        turns=(
            "Sinusoid: amplitude of the soft link, *",
            "Sinusoid: amplitude that the soft link lacks without gravity over that with it, *",
        ),
    ),
    Mutation(
        experiment="two-dof",
        name="soft and stiff are exchanged",
        patch=lambda monkeypatch: monkeypatch.setattr(two_dof, "PRESETS", {"soft": 0.6, "stiff": 0.2}),
        turns=(
            "Sinusoid: amplitude of the stiff link, *",
            "Sinusoid: RMS error of the stiff link over that of the soft one, *",
        ),
    ),
    Mutation(
        experiment="two-dof",
        name="the damping depends on the time step",
        patch=_damped_by_the_step,
        turns=("Sinusoid: change of the soft link's error with half the time step",),
    ),
]
