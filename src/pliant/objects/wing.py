"""Declaration of the wing ``objects``."""

from pliant.base.wing import Wing

WING = Wing(
    name="objects",
    summary="Spheres, boxes, cylinders and frames that are made, moved, attached and deleted during a run",
    additions={"objects": "pliant.objects.options:SpareObjects"},
    devices=("pliant.objects.device",),
)
