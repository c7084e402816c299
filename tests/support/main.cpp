#include <gmock/gmock.h>

#include <tessera/core/base/settings_check.h>

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (GTEST_FLAG_GET(internal_run_death_test).empty()) {
    tessera::say_idle_variables();  // the tests' own ones, before a test listens to the log
  }
  return RUN_ALL_TESTS();
}
