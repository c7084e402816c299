#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/array_file.h>

#include "nn/io/hdf5_example.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/simulated_file_system.h"
#include "support/sweep.h"
#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using testing::HasSubstr;
using testing_support::error_of;
using testing_support::run_command;
using testing_support::TemporaryFolder;

void expect_equal(const ArraySource& source, ArrayFileReader& reader) {
  const ArrayInfo* info = reader.find(source.path);
  ASSERT_NE(info, nullptr) << source.path;
  EXPECT_EQ(info->target, source.target) << source.path;
  if (!source.target.empty()) {
    return;
  }
  EXPECT_EQ(info->dtype, source.dtype) << source.path;
  EXPECT_EQ(info->shape, source.shape) << source.path;
  std::vector<std::byte> bytes(info->nbytes());
  reader.read(source.path, bytes);
  const auto* expected = static_cast<const std::byte*>(source.data);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected)) << source.path;
}

TEST(Hdf5File, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const ExampleFile example;
  write_array_file(folder / "a.h5", example.contents);
  const auto reader = open_array_file(folder / "a.h5", Checksums::required);
  for (const ArraySource& source : example.contents.arrays) {
    expect_equal(source, *reader);
  }
  EXPECT_EQ(reader->find("model/lm_head.weight")->target, "model/h.0.weight");
  const auto attributes = reader->attributes();
  for (const ArrayAttribute& wanted : example.contents.attributes) {
    const auto found = std::ranges::find_if(attributes, [&](const ArrayAttribute& attribute) {
      return attribute.owner == wanted.owner && attribute.name == wanted.name;
    });
    ASSERT_NE(found, attributes.end()) << wanted.name;
    EXPECT_EQ(found->value, wanted.value) << wanted.name;
  }
  EXPECT_EQ(attributes.size(), example.contents.attributes.size());
}

TEST(Hdf5File, KeepsTheOrderOfNames) {
  const TemporaryFolder folder;
  ExampleFile example;
  for (int i = 0; i < 30; ++i) {  // enough for HDF5 to change how it stores a group
    example.add("many/z" + std::to_string(29 - i), DType::u8, {1});
  }
  write_array_file(folder / "a.h5", example.contents);
  const auto reader = open_array_file(folder / "a.h5");
  std::vector<std::string> names;
  for (const ArrayInfo& info : reader->arrays()) {
    if (info.path.starts_with("many/")) {
      names.push_back(info.path);
    }
  }
  ASSERT_EQ(names.size(), 30U);
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(names[static_cast<std::size_t>(i)], "many/z" + std::to_string(29 - i));
  }
}

TEST(Hdf5File, IsTheSameBytesEveryTime) {
  const TemporaryFolder folder;
  const ExampleFile example;
  write_array_file(folder / "a.h5", example.contents);
  write_array_file(folder / "b.h5", example.contents);
  EXPECT_EQ(read_file(folder / "a.h5"), read_file(folder / "b.h5"));
}

TEST(Hdf5File, IsReadByOtherPrograms) {
  const TemporaryFolder folder;
  const ExampleFile example;
  write_array_file(folder / "a.h5", example.contents);
  const std::string script = std::string(TESSERA_TEST_FOLDER) + "/nn/io/hdf5_read_back.py";
  const auto h5py = run_command("/usr/bin/python3 " + script + " " + (folder / "a.h5"));
  EXPECT_EQ(h5py.exit_code, 0) << h5py.output;
  const auto dump = run_command("h5dump -d /model/a -a /rate " + (folder / "a.h5"));
  EXPECT_EQ(dump.exit_code, 0) << dump.output;
  EXPECT_THAT(dump.output, HasSubstr("H5T_STD_I64LE"));
  EXPECT_THAT(dump.output, HasSubstr("0.125"));
  EXPECT_THAT(dump.output, HasSubstr("ATTRIBUTE \"checksum\""));
}

TEST(Hdf5File, ReadsWhatH5pyWrites) {
  const TemporaryFolder folder;
  const std::string script = std::string(TESSERA_TEST_FOLDER) + "/nn/io/hdf5_write_foreign.py";
  const auto made = run_command("/usr/bin/python3 " + script + " " + folder.path());
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const auto reader = open_array_file(folder / "good.h5");
  for (const char* name : {"plain", "big_endian", "chunked", "compact"}) {
    std::vector<float> values(6);
    reader->read(name, std::as_writable_bytes(std::span(values)));
    EXPECT_THAT(values, testing::ElementsAre(0, 1, 2, 3, 4, 5)) << name;
  }
  EXPECT_EQ(reader->find("group/bool")->dtype, DType::boolean);
  EXPECT_EQ(reader->find("group/complex")->dtype, DType::c128);
  EXPECT_EQ(reader->find("group/half")->dtype, DType::f16);
  const auto attributes = reader->attributes();
  ASSERT_NE(find_attribute<std::string>(attributes, "", "fixed"), nullptr);
  EXPECT_EQ(*find_attribute<std::string>(attributes, "", "fixed"), "abc");
  EXPECT_EQ(*find_attribute<std::int64_t>(attributes, "plain", "n"), 3);
  for (const char* name : {"no texts", "no text", "no bytes"}) {
    ASSERT_NE(find_attribute<std::vector<std::string>>(attributes, "plain", name), nullptr) << name;
    EXPECT_TRUE(find_attribute<std::vector<std::string>>(attributes, "plain", name)->empty());
  }
}

TEST(Hdf5File, RefusesWhatHasNoEndOrIsNoHdf5) {
  const TemporaryFolder folder;
  const std::string script = std::string(TESSERA_TEST_FOLDER) + "/nn/io/hdf5_write_foreign.py";
  ASSERT_EQ(run_command("/usr/bin/python3 " + script + " " + folder.path()).exit_code, 0);
  const auto message = [&](const std::string& name) {
    return error_of([&] { (void)open_array_file(folder / name); });
  };
  const auto refusal = [&](const std::string& name, const std::string& array) {
    const auto reader = open_array_file(folder / name);
    return reader->find(array) == nullptr ? "not listed" : reader->find(array)->refusal;
  };
  EXPECT_THAT(refusal("cycle.h5", "g/again"),
              HasSubstr("'g/again' is a group that contains itself"));
  std::string deepest = "g";
  for (int depth = 1; depth <= 32; ++depth) {
    deepest += "/g";
  }
  EXPECT_THAT(refusal("deep.h5", deepest),
              HasSubstr("/g' lies too deep; expected at most 32 groups"));
  EXPECT_EQ(refusal("deep.h5", "kept"), "");
  EXPECT_THAT(message("many_paths.h5"), HasSubstr("many_paths.h5' has groups of too many names"));
  EXPECT_THAT(message("no_hdf5.h5"), HasSubstr("no_hdf5.h5' is no readable HDF5 file"));
  EXPECT_THAT(message("good.h5"), HasSubstr("no error"));
  EXPECT_THAT(error_of([&] { verify_array_file(folder / "good.h5"); }),
              HasSubstr("it has no checksums"));
}

TEST(Hdf5File, FindsEveryFlippedByte) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  ExampleFile example;
  example.contents.arrays.resize(4);
  example.contents.attributes.resize(1);
  write_array_file("a.h5", example.contents);
  const int size = static_cast<int>(files.open("a.h5", {})->size());
  for (const int byte : test::sampled(size, size / 8)) {
    const auto at = static_cast<std::uint64_t>(byte);
    const auto mask = static_cast<unsigned char>(1U << (at % 8));
    files.damage("a.h5", at, mask);
    EXPECT_THROW((void)open_array_file("a.h5"), IoError) << at;
    files.damage("a.h5", at, mask);
  }
  verify_array_file("a.h5");
}

/// Writes zeros over the file's first `bytes` bytes, and opens it.
std::string error_without_beginning(SimulatedFileSystem& files, std::size_t bytes) {
  files.open("a.h5", {})->write_at(std::vector<std::byte>(bytes), 0);
  return error_of([] { (void)open_array_file("a.h5"); });
}

TEST(Hdf5File, KnowsItsOwnFileWithoutItsFirstPage) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  write_array_file("a.h5", ExampleFile().contents);
  EXPECT_THAT(error_without_beginning(files, 56), HasSubstr("its checksum block is gone"));
  EXPECT_THAT(error_without_beginning(files, 4096), HasSubstr("its checksum block is gone"));
}

TEST(Hdf5File, NamesTheDamagedArray) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  ExampleFile example;
  example.contents.arrays.clear();
  example.add("model/first", DType::f32, {100});
  example.add("model/large", DType::f32, {3 << 20});
  example.add("model/last", DType::u8, {10});
  example.contents.attributes.clear();
  write_array_file("a.h5", example.contents);
  const std::uint64_t size = files.open("a.h5", {})->size();
  const auto message = [&](std::uint64_t at) {
    files.damage("a.h5", at, 0x10);
    const std::string text = error_of([&] { verify_array_file("a.h5"); });
    files.damage("a.h5", at, 0x10);
    return text;
  };
  const std::uint64_t arrays = 2 * 4096;  // after the checksums and the superblock
  EXPECT_THAT(message(arrays + 17), HasSubstr("they hold 'model/first'"));
  EXPECT_THAT(message(arrays + 4096), HasSubstr("they hold 'model/large'"));
  EXPECT_THAT(message(arrays + (6 << 20)), HasSubstr("they hold 'model/large'"));
  EXPECT_THAT(message(arrays + 4096 + (12 << 20)), HasSubstr("they hold 'model/last'"));
  EXPECT_THAT(message(5000), HasSubstr("its table of names does not match"));
  EXPECT_THAT(message(size - 1), HasSubstr("its table of names does not match"));
  EXPECT_THAT(message(100), HasSubstr("its checksum block does not match"));
}

TEST(Hdf5File, FindsCutAndLengthenedFiles) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const ExampleFile example;
  write_array_file("a.h5", example.contents);
  const auto file = files.open("a.h5", {});
  const std::uint64_t size = file->size();
  const auto message = [] { return error_of([] { verify_array_file("a.h5"); }); };
  file->resize(size + 1);
  EXPECT_THAT(message(), HasSubstr("truncated or damaged"));
  for (std::uint64_t cut = size - 1; cut > 0; cut /= 2) {
    file->resize(cut);
    EXPECT_THAT(message(), HasSubstr("'a.h5' is")) << cut;
  }
}

TEST(Hdf5File, RefusesBadNames) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const auto message = [](const std::vector<std::string>& names, ArrayFileContents contents = {}) {
    const float value = 0;
    for (const std::string& name : names) {
      contents.arrays.push_back({name, DType::f32, {}, &value});
    }
    return error_of([&] { write_array_file("a.h5", contents); });
  };
  EXPECT_THAT(message({"a", "a"}), HasSubstr("two arrays have the name 'a'"));
  EXPECT_THAT(message({"a", "a/b"}), HasSubstr("'a/b' lies in 'a', which is an array"));
  EXPECT_THAT(message({"/a"}), HasSubstr("got '/a'"));
  EXPECT_THAT(message({"a//b"}), HasSubstr("got 'a//b'"));
  EXPECT_THAT(message({"a/./b"}), HasSubstr("got 'a/./b'"));
  EXPECT_THAT(message({"a"}, {.arrays = {alias_of("c", "b")}}),
              HasSubstr("'c', which is not there"));
  EXPECT_EQ(files.kind("a.h5"), FileKind::missing);
}

TEST(Hdf5File, ReportsTheDisksErrors) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  const ExampleFile example;
  write_array_file("a.h5", example.contents);
  const std::uint64_t operations = files.operations();
  for (std::uint64_t i = 0; i < operations; ++i) {
    files.fail_at(files.operations() + i);
    EXPECT_THAT(error_of([&] { write_array_file("b.h5", example.contents); }),
                HasSubstr("Input/output error"));
  }
  files.set_capacity(30000);
  EXPECT_THAT(error_of([&] { write_array_file("b.h5", example.contents); }),
              HasSubstr("'b.h5': No space left on device"));
}

TEST(Hdf5File, RefusesNewerFormats) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  write_array_file("a.h5", ExampleFile().contents);
  files.damage("a.h5", 8, 2);  // version 1 becomes 3
  EXPECT_THAT(error_of([] { verify_array_file("a.h5"); }),
              HasSubstr("written by a newer Tessera; got file format 3, expected at most 1"));
}

}  // namespace
}  // namespace tessera::nn
