#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using testing_support::error_of;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class RealFiles : public testing::Test {
 protected:
  RealFiles() {
    std::string pattern = testing::TempDir() + "/tessera_file_XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~RealFiles() override { remove_tree(root_); }
  [[nodiscard]] std::string path(const std::string& name) const { return join_path(root_, name); }

  std::string root_;
};

TEST_F(RealFiles, HoldWhatWasWritten) {
  write_file(path("a"), bytes_of("hello world"));
  EXPECT_EQ(read_file(path("a")), "hello world");
  const auto file = file_system().open(path("a"), {});
  std::string part(5, ' ');
  EXPECT_EQ(file->read_at(std::as_writable_bytes(std::span(part)), 8), 3U);
  EXPECT_EQ(part, "rld  ");
}

TEST_F(RealFiles, DirectTransfersMixWithUnalignedOnes) {
  const std::size_t size = 4 * kDirectAlignment;
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, size)), &std::free);
  const std::span<std::byte> block(memory.get(), size);
  for (std::size_t i = 0; i < size; ++i) {
    block[i] = static_cast<std::byte>(i * 7 % 251);
  }
  const auto file = file_system().open(path("direct"), {.create = true, .direct = true});
  file->write_at(block, kDirectAlignment);
  file->write_at(block.first(100), 0);
  file->sync();
  EXPECT_EQ(file->size(), 5 * kDirectAlignment);
  const auto reader = file_system().open(path("direct"), {.direct = true});
  std::vector<std::byte> start(100);
  EXPECT_EQ(reader->read_at(start, 0), 100U);
  EXPECT_TRUE(std::ranges::equal(start, block.first(100)));
  std::vector<std::byte> rest(size + 50);
  EXPECT_EQ(reader->read_at(rest, kDirectAlignment), size);
  EXPECT_TRUE(std::ranges::equal(std::span(rest).first(size), block));
}

TEST_F(RealFiles, ListsNamesInByteOrderWithoutFollowingLinks) {
  FileSystem& files = file_system();
  make_directories(path("d/sub"));
  write_file(path("d/b"), bytes_of("x"));
  write_file(path("d/B"), bytes_of("x"));
  ASSERT_EQ(::symlink("b", path("d/link").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", path("d/lost").c_str()), 0);
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : files.list(path("d"))) {
    names.push_back(entry.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("B", "b", "link", "lost", "sub"));
  EXPECT_EQ(files.kind(path("d/link")), FileKind::regular);
  EXPECT_EQ(files.kind(path("d/link"), false), FileKind::link);
  EXPECT_EQ(files.kind(path("d/lost")), FileKind::missing);
  EXPECT_EQ(files.kind(path("d/sub")), FileKind::directory);
  EXPECT_EQ(files.kind(path("d/b/c")), FileKind::missing);
}

TEST_F(RealFiles, RenamesExchangesAndRemoves) {
  FileSystem& files = file_system();
  make_directories(path("a"));
  make_directories(path("b"));
  write_file(path("a/file"), bytes_of("from a"));
  if (!files.exchange(path("a"), path("b"))) {
    GTEST_SKIP() << "this file system cannot exchange names";
  }
  EXPECT_EQ(read_file(path("b/file")), "from a");
  files.rename(path("b"), path("a"));
  files.sync_directory(root_);
  EXPECT_EQ(read_file(path("a/file")), "from a");
  EXPECT_EQ(files.kind(path("b")), FileKind::missing);
  remove_tree(path("a"));
  EXPECT_TRUE(files.list(root_).empty());
}

TEST_F(RealFiles, ErrorsNamePathAndCause) {
  const std::string missing = path("missing");
  EXPECT_EQ(error_of<IoError>([&] { (void)read_file(missing); }),
            "open: '" + missing + "': No such file or directory");
  EXPECT_EQ(error_of<IoError>([&] { (void)file_system().list(missing); }),
            "list: '" + missing + "': No such file or directory");
  EXPECT_EQ(error_of<IoError>([&] { file_system().rename(missing, path("x")); }),
            "rename: '" + missing + "' to '" + path("x") + "': No such file or directory");
  EXPECT_EQ(error_of<IoError>([&] {
              file_system().open("/dev/full", {.create = true})->write_at(bytes_of("x"), 0);
            }),
            "write: '/dev/full': No space left on device");
}

TEST(Paths, JoinAndParent) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("/", "b"), "/b");
  EXPECT_EQ(parent_path("a/b/"), "a");
  EXPECT_EQ(parent_path("a"), ".");
  EXPECT_EQ(parent_path("/a"), "/");
  EXPECT_EQ(parent_path("/a//b"), "/a");
  EXPECT_EQ(parent_path("/"), "/");
}

}  // namespace
}  // namespace tessera
