#include <set>

#include <gtest/gtest.h>

#include <tessera/core/base/error.h>

#include "support/simulated_file_system.h"

namespace tessera {
namespace {

std::span<const std::byte> as_bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(SimulatedFiles, LoseWhatWasNotSynced) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  make_directories("d");
  auto file = files.open("d/a", {.create = true});
  file->write_at(as_bytes_of("old"), 0);
  file->sync();
  files.sync_directory("d");
  file->write_at(as_bytes_of("new"), 0);
  files.open("d/b", {.create = true})->sync();
  EXPECT_EQ(read_file("d/a"), "new");
  files.reboot(Survivors::none);
  EXPECT_EQ(read_file("d/a"), "old");
  EXPECT_EQ(files.kind("d/b"), FileKind::missing);  // its bytes were synced, its name was not
}

TEST(SimulatedFiles, KeepAllWhenLuckyAndSomeAtRandom) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    SimulatedFileSystem files;
    const FileSystemScope scope(files);
    files.open("a", {.create = true})->sync();
    files.sync_directory("/");
    files.open("b", {.create = true})->sync();
    files.rename("a", "c");
    files.reboot(seed == 0 ? Survivors::all : Survivors::random, seed);
    std::string names;
    for (const DirectoryEntry& entry : files.list("/")) {
      names += entry.name;
    }
    EXPECT_TRUE(seed != 0 || names == "bc") << names;
    seen.insert(names);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a", "ab", "c", "bc"}));
}

TEST(SimulatedFiles, TearWritesAtSectors) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    SimulatedFileSystem files;
    const FileSystemScope scope(files);
    write_file("a", as_bytes_of(std::string(1024, '0')));
    files.sync_directory("/");
    files.open("a", {})->write_at(as_bytes_of(std::string(1024, '1')), 0);
    files.reboot(Survivors::random, seed);
    const std::string held = read_file("a");
    seen.insert({held[0], held[512]});
  }
  EXPECT_EQ(seen, (std::set<std::string>{"00", "01", "10", "11"}));
}

TEST(SimulatedFiles, CrashAtTheChosenOperationAndStayDown) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  make_directories("d");
  const std::uint64_t before = files.operations();
  files.crash_before(before + 1);
  auto file = files.open("d/a", {.create = true});
  EXPECT_THROW(file->write_at(as_bytes_of("x"), 0), SimulatedCrash);
  EXPECT_THROW((void)files.kind("d"), SimulatedCrash);
  files.reboot(Survivors::all);
  EXPECT_EQ(read_file("d/a"), "");
  EXPECT_THROW(file->sync(), SimulatedCrash);  // a handle from before the crash
}

TEST(SimulatedFiles, ExchangeIsOneChange) {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    SimulatedFileSystem files;
    const FileSystemScope scope(files);
    write_file("a", as_bytes_of("A"));
    write_file("b", as_bytes_of("B"));
    files.sync_directory("/");
    ASSERT_TRUE(files.exchange("a", "b"));
    EXPECT_EQ(read_file("a") + read_file("b"), "BA");
    files.reboot(Survivors::random, seed);
    const std::string held = read_file("a") + read_file("b");
    EXPECT_TRUE(held == "AB" || held == "BA") << held;
  }
}

TEST(SimulatedFiles, FillUpAndFail) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  files.set_capacity(10);
  write_file("a", as_bytes_of("12345678"));
  EXPECT_THROW(write_file("b", as_bytes_of("123")), IoError);
  remove_tree("a");
  write_file("b", as_bytes_of("123"));
  files.fail_at(files.operations());
  EXPECT_THROW(write_file("b", as_bytes_of("1")), IoError);
  EXPECT_EQ(read_file("b"), "123");
}

}  // namespace
}  // namespace tessera
