"""Tasks whose best stiffness is known."""

import numpy as np

from pliant.learn.compliance.task import ComplianceTask, Measure, TaskParameter, register_task

SOFT, STIFF = 0.2, 0.8
"""Best stiffness before and after, as places in the range."""


def make_toy(name="toy", *, plant_has_stiffness=True, rule=(SOFT, STIFF)):
    """Register a task whose error is the distance from the two best stiffnesses, which differ; a world adds noise."""

    def evaluate(parameters, seeds):
        noise = np.array([np.random.default_rng(seed).normal(0.0, 0.01) for seed in seeds])
        felt = parameters[:, :2] if plant_has_stiffness else np.full((len(parameters), 2), 0.5)
        error = np.abs(felt - (SOFT, STIFF)).sum(axis=1) + np.abs(parameters[:, 2] - 0.4)
        return {"error": error[:, None] + noise, "twice": 2.0 * (error[:, None] + noise)}

    return register_task(
        ComplianceTask(
            name=name,
            title="Two phases with different best stiffnesses",
            claim="Two stiffnesses are better than one.",
            primary=Measure("error", unit="N", better="lower", meaning="distance from the best controller"),
            secondary=(Measure("twice", unit="N", better="lower", meaning="twice that"),),
            parameters=(
                TaskParameter("before", 0.0, 1.0, rule[0], stiffness="arm"),
                TaskParameter("after", 0.0, 1.0, rule[1], stiffness="arm"),
                TaskParameter("speed", 0.0, 1.0, 0.4),
            ),
            evaluate=evaluate,
        )
    )
