// Real processes killed while they save.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include <tessera/dist/checkpoint/step_folders.h>

#include "dist/checkpoint/hdf5_version.h"
#include "support/sweep.h"
#include "support/temporary_folder.h"

namespace tessera::dist {
namespace {

constexpr const char* kFolderVariable = "TESSERA_TEST_SAVE_FOLDER";
constexpr std::int64_t kNumel = 1 << 20;
constexpr int kKills = 50;
constexpr int kSampledKills = 10;

void say(char word) {
  ASSERT_EQ(::write(STDOUT_FILENO, &word, 1), 1);
}

/// What the child runs: saves step 1 again and again, and says when it begins and ends.
TEST(KilledSave, DISABLED_SavesUntilKilled) {
  const char* folder = std::getenv(kFolderVariable);
  ASSERT_NE(folder, nullptr);
  std::int64_t version = list_steps(folder).empty() ? 0 : version_of(folder, 1).value();
  for (;;) {
    say('b');
    save_version(folder, 1, ++version, kNumel);
    say('e');
  }
}

/// The child process and the pipe that it talks to.
class Saver {
 public:
  explicit Saver(const std::string& folder) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::setenv(kFolderVariable, folder.c_str(), 1);
    std::array<std::string, 4> words{"saver", "--gtest_filter=KilledSave.*SavesUntilKilled",
                                     "--gtest_also_run_disabled_tests", "--gtest_brief=1"};
    std::array<char*, 5> arguments{words[0].data(), words[1].data(), words[2].data(),
                                   words[3].data(), nullptr};
    ::unsetenv("GTEST_TOTAL_SHARDS");  // the child runs its one test, whatever our share is
    ::unsetenv("GTEST_SHARD_INDEX");
    EXPECT_EQ(
        ::posix_spawn(&child_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  ~Saver() { ::close(pipe_); }
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  /// The next word; 0 at the end.
  char next() {
    char word = 0;
    return ::read(pipe_, &word, 1) == 1 ? word : '\0';
  }
  void wait_for(char wanted) {
    for (char word = next(); word != wanted; word = next()) {
      ASSERT_NE(word, '\0') << "the child ended by itself";
    }
  }
  std::chrono::steady_clock::time_point time_of(char word) {
    wait_for(word);
    return std::chrono::steady_clock::now();
  }
  /// Kills it; returns the last thing it said.
  char kill(char last) {
    ::kill(child_, SIGKILL);
    for (char word = next(); word != '\0'; word = next()) {
      last = word;
    }
    int status = 0;
    ::waitpid(child_, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return last;
  }

 private:
  pid_t child_ = -1;
  int pipe_ = -1;
};

TEST(KilledSave, LeavesTheOldOrTheNewStep) {
  const testing_support::TemporaryFolder folder;
  save_version(folder.path(), 1, 0, kNumel);
  std::mt19937 random(1 + test::sample_seed());
  const int kills = test::trials(kKills, kSampledKills);
  int inside = 0;
  int tried = 0;
  for (; inside < kills && tried < 20 * kills; ++tried) {
    const std::int64_t before = version_of(folder.path(), 1).value();
    Saver saver(folder.path());
    const auto begin = saver.time_of('b');
    const auto end = saver.time_of('e');
    saver.wait_for('b');
    std::this_thread::sleep_for((end - begin) * (random() % 1000) / 1000);  // anywhere in a save
    inside += saver.kill('b') == 'b' ? 1 : 0;
    const auto after = version_of(folder.path(), 1);
    ASSERT_TRUE(after.has_value()) << "a mixture of two versions";
    ASSERT_GE(*after, before);
  }
  std::cout << tried << " kills, " << inside << " of them inside a save\n";
  EXPECT_GE(inside, kills);
}

}  // namespace
}  // namespace tessera::dist
