"""Declaration of the wing ``camera``."""

from pliant.base.wing import Wing

WING = Wing(
    name="camera",
    summary="The device of a camera: colours, distances and objects of its pixels, with lens, exposure and noise",
    devices=("pliant.camera.device:Camera",),
)
