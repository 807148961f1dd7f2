"""Walking: the controller, its device, the biped and humanoids."""
