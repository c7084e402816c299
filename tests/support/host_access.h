// What touches tensors on the host: it works on any device, or is refused in a sentence.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/device/device.h>

#include "support/bare_device.h"
#include "support/guarded_device.h"

namespace tessera::test {

struct HostAccess {
  const char* name;
  /// What is made of tensors on a device.
  std::function<std::vector<double>(const Device&)> result;
  bool needs_kernels = false;    ///< or may be refused for another reason
  bool needs_addresses = false;  ///< as said to whoever asks for a pointer
};

/// Whether the access may be refused on `device`.
inline bool may_be_refused(const HostAccess& access, const Device& device) {
  return (access.needs_kernels && device != guarded_device()) ||
         (access.needs_addresses && device != open_device());
}

inline void expect_same_or_refused(const HostAccess& access) {
  const std::vector<double> here = access.result(Device{});
  for (const Device& device : {bare_device(), open_device(), guarded_device()}) {
    try {
      EXPECT_EQ(access.result(device), here) << access.name << " on " << device;
    } catch (const InternalError&) {
      throw;
    } catch (const Error& error) {
      EXPECT_TRUE(may_be_refused(access, device))
          << access.name << " on " << device << ": " << error.what();
    }
  }
}

}  // namespace tessera::test
