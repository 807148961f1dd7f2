"""Walking: kinematics of a tree of hinges, the divergent component of motion, and a controller of the gait."""
