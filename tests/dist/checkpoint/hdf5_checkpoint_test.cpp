#include <sys/mount.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/dist/checkpoint/checkpoint.h>
#include <tessera/dist/checkpoint/step_folders.h>

#include "dist/checkpoint/hdf5_version.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/simulated_file_system.h"
#include "support/temporary_folder.h"

namespace tessera::dist {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::error_of;

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : file_system().list(directory)) {
    names.push_back(entry.name);
  }
  return names;
}

TEST(Checkpoint, SavesListsReplacesAndPrunes) {
  const testing_support::TemporaryFolder folder;
  const std::string run = folder / "deep/run";
  EXPECT_EQ(newest_step(run), std::nullopt);
  for (const std::int64_t step : {2, 10, 9}) {
    save_version(run, step, step);
  }
  save_version(run, 10, 77);
  EXPECT_THAT(list_steps(run), ElementsAre(2, 9, 10));
  EXPECT_EQ(newest_step(run), 10);
  EXPECT_EQ(version_of(run, 10), 77);
  keep_newest_steps(run, 2);
  EXPECT_THAT(names_in(run), ElementsAre("step-10", "step-9"));
  keep_newest_steps(run, 5);
  EXPECT_THAT(list_steps(run), ElementsAre(9, 10));
}

TEST(Checkpoint, OpensInH5py) {
  const testing_support::TemporaryFolder folder;
  save_version(folder.path(), 3, 42);
  const auto result = testing_support::run_command(
      "/usr/bin/python3 -c \"import h5py; f = h5py.File('" + (folder / "step-3/index.h5") +
      "'); print(list(f['model']), f['model/a.weight'].shape, f['model/b.weight'][7], "
      "f['optimizer/exp_avg_sq/a.weight'][()], f.attrs['step'])\"");
  EXPECT_EQ(result.output, "['a.weight', 'b.weight'] (2000,) 42 42 3\n");
}

TEST(Checkpoint, SetsLaterStepsAside) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  for (const std::int64_t step : {1, 2, 3}) {
    save_version("run", step, step);
  }
  EXPECT_EQ(set_aside_steps_after("run", 1), "run/.set-aside-1");
  files.reboot(Survivors::none);
  EXPECT_THAT(list_steps("run"), ElementsAre(1));
  EXPECT_EQ(version_of("run/.set-aside-1", 3), 3);
  EXPECT_EQ(set_aside_steps_after("run", 1), "");
  save_version("run", 2, 5);
  EXPECT_EQ(set_aside_steps_after("run", 1), "run/.set-aside-2");
}

TEST(Checkpoint, NamesWhatIsWrongAndFindsTheNewestWholeStep) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  for (const std::int64_t step : {1, 2, 3}) {
    save_version("run", step, step);
  }
  files.damage("run/step-3/index.h5", 8192, 1);
  const std::string damaged = error_of([] { verify_checkpoint("run", 3); });
  EXPECT_THAT(damaged, HasSubstr("'run/step-3/index.h5' is damaged"));
  EXPECT_THAT(damaged, HasSubstr("'model/a.weight'"));
  EXPECT_EQ(newest_whole_step("run"), 2);
  EXPECT_EQ(newest_whole_step("run", 2), 1);
  EXPECT_EQ(newest_whole_step("run", 1), std::nullopt);
  EXPECT_EQ(error_of([] { verify_checkpoint("run", 7); }),
            "load: 'run' holds no step 7; it holds 1, 2, 3");
  EXPECT_EQ(error_of([] { verify_checkpoint("none", 7); }),
            "load: 'none' holds no step 7; it holds none");
  files.remove_file("run/step-2/index.h5");
  EXPECT_THAT(error_of([] { verify_checkpoint("run", 2); }),
              HasSubstr("'run/step-2/index.h5': No such file or directory"));
}

TEST(Checkpoint, RefusesNewerFormatsAndOtherFiles) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto save_with = [](const std::vector<nn::ArrayAttribute>& attributes) {
    write_step_folder("run", 1, [&](const std::string& folder) {
      nn::ArrayFileContents contents;
      contents.attributes = attributes;
      nn::write_array_file(folder + "/index.h5", contents);
    });
    return error_of([] { verify_checkpoint("run", 1); });
  };
  EXPECT_THAT(save_with({{"", "checkpoint_format", std::int64_t{2}}}),
              HasSubstr("newer Tessera; got checkpoint format 2, expected at most 1"));
  EXPECT_THAT(save_with({}), HasSubstr("is no checkpoint"));
}

TEST(Checkpoint, FullDiskLeavesTheOldStepAndNothingElse) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  save_version("run", 1, 1);
  save_version("run", 2, 2);
  files.set_capacity(100 << 10);
  EXPECT_THAT(error_of([] { save_version("run", 3, 3); }), HasSubstr("No space left on device"));
  EXPECT_THAT(error_of([] { save_version("run", 2, 4); }), HasSubstr("No space left on device"));
  EXPECT_THAT(names_in("run"), ElementsAre("step-1", "step-2"));
  EXPECT_EQ(version_of("run", 2), 2);
  keep_newest_steps("run", 1);
  save_version("run", 3, 3);
  EXPECT_EQ(version_of("run", 3), 3);
}

TEST(Checkpoint, FullRealDiskLeavesTheOldStepAndNothingElse) {
  const testing_support::TemporaryFolder folder;
  if (::mount("tessera", folder.path().c_str(), "tmpfs", 0, "size=3m") != 0) {
    GTEST_SKIP() << "mounting a small file system is not allowed here";
  }
  const std::string run = folder / "run";
  save_version(run, 1, 1, 100000);
  EXPECT_THAT(error_of([&] { save_version(run, 2, 2, 200000); }),
              HasSubstr("No space left on device"));
  EXPECT_THAT(names_in(run), ElementsAre("step-1"));
  EXPECT_EQ(version_of(run, 1), 1);
  EXPECT_EQ(::umount(folder.path().c_str()), 0);
}

/// Saves over version 1 of step 5 as `save` says, with power lost before operation `crash` of it.
void save_and_crash(SimulatedFileSystem& files, std::uint64_t crash, Survivors survivors,
                    std::uint64_t seed, const std::function<void()>& save) {
  save_version("run", 5, 1, 600);
  files.reboot(Survivors::none);  // all of it was synced
  files.crash_before(files.operations() + crash);
  try {
    save();
  } catch (const SimulatedCrash&) {
  }
  files.reboot(survivors, seed);
}

/// Every crash point and many ways of surviving it; returns how many were tried.
int try_all_crashes(bool exchange, const std::function<void()>& save,
                    const std::function<void(bool finished)>& look) {
  int tried = 0;
  bool finished = false;
  for (std::uint64_t crash = 0; !finished; ++crash) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      SimulatedFileSystem files;
      files.set_exchange_supported(exchange);
      const FileSystemScope scope(files);
      const auto survivors = seed < 2 ? static_cast<Survivors>(seed) : Survivors::random;
      finished = true;
      save_and_crash(files, crash, survivors, seed, [&] {
        finished = false;
        save();
        finished = true;
      });
      look(finished);
      ++tried;
      save_version("run", 5, 9, 600);  // what was left over hinders nothing and goes
      EXPECT_EQ(version_of("run", 5), 9);
      for (const std::string& name : names_in("run")) {
        EXPECT_TRUE(name.starts_with("step-")) << name;
      }
    }
  }
  return tried;
}

TEST(Checkpoint, ACrashAnywhereLeavesTheOldOrTheNewStep) {
  for (const bool exchange : {true, false}) {
    int old_seen = 0;
    int new_seen = 0;
    const int tried = try_all_crashes(
        exchange, [] { save_version("run", 5, 2, 600); },
        [&](bool finished) {
          ASSERT_THAT(list_steps("run"), ElementsAre(5));
          const auto version = version_of("run", 5);
          ASSERT_TRUE(version == 2 || (version == 1 && !finished));
          ++(version == 1 ? old_seen : new_seen);
        });
    std::cout << tried << " crashes while replacing a step: " << old_seen << " old, " << new_seen
              << " new\n";
    EXPECT_GT(old_seen, 100);
    EXPECT_GT(new_seen, 24);
  }
}

TEST(Checkpoint, ACrashAnywhereLeavesOtherSteps) {
  const int tried = try_all_crashes(
      true,
      [] {
        save_version("run", 6, 2, 600);
        keep_newest_steps("run", 1);
      },
      [&](bool finished) {
        const auto steps = list_steps("run");
        ASSERT_FALSE(steps.empty());
        ASSERT_TRUE(!finished || steps == std::vector<std::int64_t>{6});
        for (const std::int64_t step : steps) {
          EXPECT_EQ(version_of("run", step), step == 5 ? 1 : 2);
        }
      });
  EXPECT_GT(tried, 200);
}

}  // namespace
}  // namespace tessera::dist
