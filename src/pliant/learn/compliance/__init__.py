"""`pliant bench compliance`: tasks in which stiffness decides, with three baselines, and verdicts with intervals."""

from pliant.learn.compliance.benchmark import run_benchmark
from pliant.learn.compliance.listing import find_task, list_tasks
from pliant.learn.compliance.results import Results
from pliant.learn.compliance.runs import Budget
from pliant.learn.compliance.task import Claim, ComplianceTask, Measure, Method, TaskParameter

__all__ = [
    "Budget",
    "Claim",
    "ComplianceTask",
    "Measure",
    "Method",
    "Results",
    "TaskParameter",
    "find_task",
    "list_tasks",
    "run_benchmark",
]
