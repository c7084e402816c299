// The world that all tests of this program share.
#pragma once

#include <tessera/dist/world.h>

namespace tessera::dist {

/// Started by main.
World& test_world();

}  // namespace tessera::dist
