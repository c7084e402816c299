// A step that is replaced where the folder of the old one cannot be removed.
#include <tessera/dist/checkpoint/step_folders.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include <tessera/core/base/file.h>
#include <tessera/core/base/log.h>

#include "support/simulated_file_system.h"

namespace tessera::dist {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void save_text(const std::string& text) {
  write_step_folder("run", 5, [&](const std::string& folder) {
    write_file(join_path(folder, "text"), std::as_bytes(std::span(text)));
  });
}

std::string saved_text() {
  return read_file(join_path(step_folder("run", 5), "text"));
}

/// Saves over a step, whose old folder is removed by the last two operations: a file and then the
/// folder. The one with which `left` operations are left fails.
void expect_saved_though_a_removal_fails(bool exchanges, std::uint64_t left) {
  SCOPED_TRACE(exchanges ? "exchanges" : "renames twice");
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  files.set_exchange_supported(exchanges);
  save_text("the first");
  const std::uint64_t begin = files.operations();
  save_text("the second");
  const std::uint64_t of_one = files.operations() - begin;
  std::vector<std::string> lines;
  {
    const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
    files.fail_at(files.operations() + of_one - left);
    EXPECT_NO_THROW(save_text("the third"));
  }
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("could not be removed"));
  EXPECT_THAT(list_steps("run"), ElementsAre(5));
  EXPECT_EQ(saved_text(), "the third");
  files.reboot(Survivors::none);
  EXPECT_EQ(saved_text(), "the third");
  save_text("the fourth");
  EXPECT_EQ(saved_text(), "the fourth");
  EXPECT_EQ(files.list("run").size(), 1U);  // nothing of the others
}

TEST(StepFolders, that_are_replaced_are_saved_though_the_old_one_stays) {
  for (const bool exchanges : {true, false}) {
    expect_saved_though_a_removal_fails(exchanges, 2);
    expect_saved_though_a_removal_fails(exchanges, 1);
  }
}

}  // namespace
}  // namespace tessera::dist
