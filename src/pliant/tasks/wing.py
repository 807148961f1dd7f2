"""Declaration of the wing ``tasks``."""

from pliant.base.wing import Wing

WING = Wing(
    name="tasks",
    summary="Many calls of a function in threads, in processes or on a Dask cluster, with results that outlive a run",
)
