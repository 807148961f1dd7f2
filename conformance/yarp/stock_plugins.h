// The plugins of a YARP whose plugins are static; stock.cmake defines STATIC_PLUGINS for it. Others load theirs.
#pragma once

#include <yarp/os/Network.h>

#ifdef STATIC_PLUGINS
YARP_DECLARE_PLUGINS(yarpmod)
inline void register_plugins() { YARP_REGISTER_PLUGINS(yarpmod); }
#else
inline void register_plugins() {}
#endif
