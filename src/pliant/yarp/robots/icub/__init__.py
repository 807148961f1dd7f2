"""The iCub, from the files of the package icub-models."""
