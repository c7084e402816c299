// Devices by name, and the ones that there are.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/device/device.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

std::string text(const Device& device) {
  std::ostringstream out;
  out << device;
  return out.str();
}

TEST(Devices, ArePrintedAsTheyAreRead) {
  for (const char* name : {"cpu", "meta", "cpu:1", "meta:2", "cuda:0", "cuda:3", "xpu:1"}) {
    EXPECT_EQ(text(Device::parse(name)), name);
  }
  EXPECT_EQ(text(Device::parse("cpu:0")), "cpu");
  EXPECT_EQ(text(Device::parse("cuda")), "cuda:0");
}

TEST(Devices, WhatTheBuildDoesNotHaveIsRefusedWhereverADeviceIsGiven) {
  const std::vector<std::function<void(Device)>> uses{
      [](Device d) { check_available(d); },
      [](Device d) { static_cast<void>(empty({2}, {.device = d})); },
      [](Device d) { static_cast<void>(zeros({2}, {.device = d})); },
      [](Device d) { static_cast<void>(full({2}, 1.0, {.device = d})); },
      [](Device d) { static_cast<void>(randn({2}, {.device = d})); }};
  for (const char* name : {"cpu:1", "meta:1", "cpu:127", "cuda", "cuda:1", "xpu"}) {
    for (const auto& use : uses) {
      EXPECT_THROW(use(Device::parse(name)), NotImplementedError) << name;
    }
  }
  try {
    check_available(Device::parse("cpu:1"));
  } catch (const NotImplementedError& error) {
    EXPECT_STREQ(error.what(), "device: there is only one cpu; got cpu:1, expected cpu or meta");
  }
}

}  // namespace
}  // namespace tessera
