"""Declaration of the wing ``vision``."""

from pliant.base.wing import BridgeEntry, Wing

WING = Wing(
    name="vision",
    summary="Visual servoing: features and their interaction matrices, AprilTags, images in mapped files",
    extra="vision",
    builds_on=("camera",),
    bridges={
        "pictures": BridgeEntry(
            "Camera images in files that programs of this machine map", "pliant.vision.pictures_bridge:make"
        ),
    },
    detectors={"tags": "pliant.vision.apriltag:AprilTagDetector"},
    benchmarks=("camera.py",),
)
