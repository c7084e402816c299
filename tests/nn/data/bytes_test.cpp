#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/nn/data/bytes.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

void write(const std::string& path, const std::string& text) {
  write_file(path, std::as_bytes(std::span(text)));
}

TEST(Bytes, AFolderIsItsFilesInTheOrderOfTheirPaths) {
  const testing_support::TemporaryFolder folder;
  make_directories(folder / "data/b");
  write(folder / "data/b/inner", "2");
  write(folder / "data/b.txt", "1");  // "b.txt" comes before "b/inner": '.' is less than '/'
  write(folder / "data/B", "0\n");
  write(folder / "data/z", "");
  write(folder / "outside", "not this");
  ASSERT_EQ(::symlink((folder / "outside").c_str(), (folder / "data/a").c_str()), 0);
  ASSERT_EQ(::symlink(folder.path().c_str(), (folder / "data/c").c_str()), 0);
  EXPECT_EQ(read_text(folder / "data"), "0\n\n1\n2\n");
  EXPECT_EQ(read_text(folder / "data/b.txt"), "1");
}

TEST(Bytes, ErrorsAreOneSentence) {
  const testing_support::TemporaryFolder folder;
  make_directories(folder / "empty");
  write(folder / "nothing", "");
  write(folder / "odd", "abc");
  EXPECT_EQ(error_of<IoError>([&] { (void)read_text(folder / "x"); }),
            "data: there is no file or folder '" + (folder / "x") + "'");
  EXPECT_EQ(error_of<InvalidArgument>([&] { (void)read_text(folder / "empty"); }),
            "data: the folder '" + (folder / "empty") + "' holds no regular file");
  EXPECT_EQ(error_of<InvalidArgument>([&] { (void)read_text(folder / "nothing"); }),
            "data: '" + (folder / "nothing") + "' is empty");
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)read_tokens(folder / "odd"); }),
              HasSubstr("holds 3 bytes"));
  EXPECT_THAT(error_of<IoError>([&] { (void)read_tokens(folder / "empty"); }),
              HasSubstr("is a folder"));
  EXPECT_THAT(error_of<IoError>([] { (void)read_text("/dev/null"); }),
              HasSubstr("neither a file nor a folder"));
}

TEST(Bytes, ReadsTokensAndTellsDataApart) {
  const testing_support::TemporaryFolder folder;
  write(folder / "t.bin", std::string("\x01\x00\xff\xc4", 4));
  const auto tokens = read_tokens(folder / "t.bin");
  EXPECT_THAT(tokens, testing::ElementsAre(1, 0xc4ff));
  EXPECT_EQ(identify_data(tokens), identify_data(read_text(folder / "t.bin")));
  EXPECT_NE(identify_data(std::string("ab")), identify_data(std::string("ba")));
}

}  // namespace
}  // namespace tessera::nn
