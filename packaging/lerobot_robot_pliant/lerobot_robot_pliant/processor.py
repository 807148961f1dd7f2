"""A step of a policy's preprocessor for policies without pictures."""

from __future__ import annotations

from typing import Any

from lerobot.configs.types import FeatureType, PipelineFeatureType, PolicyFeature
from lerobot.processor import ObservationProcessorStep, ProcessorStepRegistry
from lerobot.utils.constants import OBS_ENV_STATE, OBS_STATE

__all__ = ["StateAsEnvironmentState"]


@ProcessorStepRegistry.register("pliant_state_as_environment_state")
class StateAsEnvironmentState(ObservationProcessorStep):
    """Gives the state also as the state of the environment, without which ACT refuses to do without pictures."""

    def observation(self, observation: dict[str, Any]) -> dict[str, Any]:
        return {**observation, OBS_ENV_STATE: observation[OBS_STATE]}

    def transform_features(
        self, features: dict[PipelineFeatureType, dict[str, PolicyFeature]]
    ) -> dict[PipelineFeatureType, dict[str, PolicyFeature]]:
        seen = features[PipelineFeatureType.OBSERVATION]
        seen[OBS_ENV_STATE] = PolicyFeature(FeatureType.ENV, seen[OBS_STATE].shape)
        return features
