#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/settings.h>
#include <tessera/core/base/settings_check.h>

namespace tessera {
namespace {

class SettingsTest : public testing::Test {
 protected:
  void TearDown() override { unsetenv("TESSERA_TEST_SETTING"); }
  static void give(const char* text) { setenv("TESSERA_TEST_SETTING", text, 1); }
};

TEST_F(SettingsTest, DefaultWithoutVariable) {
  const Setting<int> setting{"TESSERA_TEST_SETTING", 7, "doc"};
  EXPECT_EQ(setting.get(), 7);
}

TEST_F(SettingsTest, ReadsEachType) {
  give("-12");
  EXPECT_EQ((Setting<std::int64_t>{"TESSERA_TEST_SETTING", 0, ""}.get()), -12);
  give("2.5");
  EXPECT_EQ((Setting<double>{"TESSERA_TEST_SETTING", 0, ""}.get()), 2.5);
  give("a b");
  EXPECT_EQ((Setting<std::string>{"TESSERA_TEST_SETTING", "", ""}.get()), "a b");
  give("off");
  EXPECT_FALSE((Setting<bool>{"TESSERA_TEST_SETTING", true, ""}.get()));
  give("1");
  EXPECT_TRUE((Setting<bool>{"TESSERA_TEST_SETTING", false, ""}.get()));
}

TEST_F(SettingsTest, SaysWhatItGotAndWhatItWants) {
  for (const char* bad : {"", "12x", "1.5", " 3", "99999999999999999999"}) {
    give(bad);
    const Setting<int> setting{"TESSERA_TEST_SETTING", 7, "doc"};
    try {
      (void)setting.get();
      ADD_FAILURE() << "accepted \"" << bad << '"';
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), "TESSERA_TEST_SETTING: cannot be read; got \"" + std::string(bad) +
                                  "\", expected a whole number");
    }
  }
  give("maybe");
  EXPECT_THROW((void)(Setting<bool>{"TESSERA_TEST_SETTING", true, ""}.get()), InvalidArgument);
}

TEST_F(SettingsTest, EnvironmentIsReadOnceAndSetOverridesIt) {
  give("3");
  Setting<int> setting{"TESSERA_TEST_SETTING", 7, "doc"};
  EXPECT_EQ(setting.get(), 3);
  give("4");
  EXPECT_EQ(setting.get(), 3);
  setting.set(5);
  EXPECT_EQ(setting.get(), 5);
  setting.reset();
  EXPECT_EQ(setting.get(), 4);
}

TEST_F(SettingsTest, TablePrintsEverySettingAndSurvivesBadValues) {
  give("lots");
  const Setting<int> setting{"TESSERA_TEST_SETTING", 7, "how many"};
  std::ostringstream out;
  print_settings(out);
  EXPECT_NE(out.str().find("TESSERA_TEST_SETTING"), std::string::npos);
  EXPECT_NE(out.str().find("(default 7)  how many"), std::string::npos);
  EXPECT_NE(out.str().find("got \"lots\""), std::string::npos);
}

TEST_F(SettingsTest, UnknownVariablesAreNamed) {
  give("1");
  const auto holds = [](const std::vector<std::string>& names) {
    return std::ranges::find(names, "TESSERA_TEST_SETTING") != names.end();
  };
  EXPECT_TRUE(holds(unknown_settings()));
  const Setting<int> setting{"TESSERA_TEST_SETTING", 7, "doc"};
  EXPECT_FALSE(holds(unknown_settings()));
}

TEST(Settings, NamesAreUniqueAndWellFormedAndDocumented) {
  std::string_view previous;
  for (const SettingEntry* setting : all_settings()) {
    const std::string_view name = setting->name();
    EXPECT_TRUE(name.starts_with("TESSERA_")) << name;
    EXPECT_NE(name, previous);
    EXPECT_GT(std::string_view(setting->doc()).size(), 10U) << name;
    previous = name;
  }
}

TEST_F(SettingsTest, AMisspeltNameIsSaidOnceWithTheNearestOne) {
  std::vector<std::string> said;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { said.emplace_back(line); });
  const ContextScope rank(std::make_shared<Context>());
  for (const auto& [misspelt, nearest] : {std::pair{"TESSERA_TRHEADS", "TESSERA_THREADS"},
                                          {"TESSERA_THREAD", "TESSERA_THREADS"},
                                          {"TESSERA_LOGS", "TESSERA_LOG"},
                                          {"TESSERA_ISSA", "TESSERA_ISA"},
                                          {"TESSERA_NUM_THREADS", "TESSERA_THREADS"},
                                          {"TESSERA_MATMULL", "TESSERA_MATMUL"}}) {
    setenv(misspelt, "1", 1);
    check_settings();
    check_settings();
    unsetenv(misspelt);
    const auto names = [&](const std::string& line) {
      return line.find(std::string(misspelt) + " is set") != line.npos;
    };
    ASSERT_EQ(std::ranges::count_if(said, names), 1) << misspelt;
    EXPECT_TRUE(std::ranges::find_if(said, names)->ends_with(nearest)) << said.back();
  }
}

/// Reads settings more than once and exits with the number of lines about TESSERA_THREAD and
/// OMP_NUM_THREADS in the log.
[[noreturn]] void read_and_exit() {
  int said = 0;
  const LogSinkScope sink([&](LogLevel, std::string_view line) {
    said += line.find("TESSERA_THREAD is set and does nothing") != line.npos &&
                    line.ends_with("; the nearest is TESSERA_THREADS")
                ? 1
                : 0;
    said += line.starts_with("OMP_NUM_THREADS=3 is not read") ? 1 : 0;
  });
  static_cast<void>(log_level());
  std::ostringstream table;
  print_settings(table);
  std::_Exit(said);
}

TEST(SettingsDeathTest, AProgramThatReadsAnySettingIsToldOnceWhatDoesNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process in which nobody has read one
  setenv("TESSERA_THREAD", "2", 1);
  setenv("OMP_NUM_THREADS", "3", 1);
  unsetenv("TESSERA_THREADS");
  EXPECT_EXIT(read_and_exit(), testing::ExitedWithCode(2), "");
  setenv("TESSERA_THREADS", "1", 1);
  EXPECT_EXIT(read_and_exit(), testing::ExitedWithCode(1), "");
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  EXPECT_EXIT(read_and_exit(), testing::ExitedWithCode(0), "");  // the first rank says it
  for (const char* name : {"TESSERA_THREAD", "TESSERA_THREADS", "OMP_NUM_THREADS",
                           "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}) {
    unsetenv(name);
  }
}

TEST_F(SettingsTest, AMisspeltValueIsRefusedByNameThoughNobodyAsksForIt) {
  const Setting<int> setting{"TESSERA_TEST_SETTING", 7, "doc"};
  EXPECT_NO_THROW(check_settings());
  give("many");
  try {
    check_settings();
    ADD_FAILURE() << "many is no number";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("TESSERA_TEST_SETTING: cannot be read; got \"many\""),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tessera
