#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/settings.h>
#include <tessera/kernels/cpu/amx.h>
#include <tessera/kernels/cpu/isa.h>

namespace tessera::cpu {
namespace {

TEST(InstructionSet, is_a_setting_whose_default_is_the_best_one) {
  const auto all = all_settings();
  const auto found = std::find_if(all.begin(), all.end(), [](const SettingEntry* entry) {
    return std::string_view(entry->name()) == "TESSERA_ISA";
  });
  ASSERT_NE(found, all.end());
  EXPECT_EQ((*found)->default_text(), to_string(best_isa()));
}

TEST(InstructionSet, each_brings_those_below_it) {
  const auto all = supported_isas();
  EXPECT_EQ(all.back(), best_isa());
  EXPECT_THAT(all, testing::BeginEndDistanceIs(static_cast<int>(best_isa()) + 1));
  EXPECT_EQ(best_isa() == Isa::amx_bf16, may_use_amx() && best_isa() >= Isa::avx512_bf16);
}

TEST(InstructionSet, refuses_what_the_cpu_lacks) {
  if (best_isa() == Isa::amx_bf16) {
    EXPECT_NO_THROW(set_active_isa(Isa::amx_bf16));
    return;
  }
  EXPECT_THROW(set_active_isa(Isa::amx_bf16), Unsupported);
}

}  // namespace
}  // namespace tessera::cpu
