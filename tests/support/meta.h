// A device whose tensors hold no memory.
#pragma once

#include <tessera/core/device/device.h>

namespace tessera::testing_support {

inline const Device kMeta{.type = DeviceType::meta};

}  // namespace tessera::testing_support
