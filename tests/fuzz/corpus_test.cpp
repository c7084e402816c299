// The fuzzers' corpus, once through the same functions, and what the readers take of memory.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <iostream>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/safetensors.h>

#include "allocations.h"
#include "child.h"
#include "readers.h"
#include "support/simulated_file_system.h"
#include "support/temporary_folder.h"

namespace tessera::fuzz {
namespace {

const std::string kCorpus = std::string(TESSERA_TEST_FOLDER) + "/fuzz/corpus";

/// A process that forks has no threads, or its children would wait for them.
struct OneThread : testing::Environment {
  void SetUp() override { set_num_threads(1); }
};
const auto* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);

/// Names of the files of one folder of the corpus.
std::vector<std::string> entries(const std::string& folder) {
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : real_file_system().list(join_path(kCorpus, folder))) {
    names.push_back(entry.name);
  }
  return names;
}

std::string bytes_of(const std::string& folder, const std::string& name) {
  return read_file(join_path(join_path(kCorpus, folder), name));
}

TEST(Corpus, is_read_or_refused) {
  for (const Reader& reader : readers()) {
    const auto names = entries(reader.name);
    EXPECT_GE(names.size(), 5U) << reader.name;
    for (const std::string& name : names) {
      const std::string bytes = bytes_of(reader.name, name);
      EXPECT_NO_THROW(reader.read(std::as_bytes(std::span(bytes)))) << reader.name << '/' << name;
    }
  }
}

/// Files of other programs on which the HDF5 library itself crashes or hangs, each in a process of
/// its own. Our code may not be where it happens.
TEST(Corpus, counts_crashes_inside_libhdf5) {
  int crashes = 0;
  const auto names = entries("hdf5_crashes");
  for (const std::string& name : names) {
    const std::string bytes = bytes_of("hdf5_crashes", name);
    const ChildEnd end =
        run_in_child([&] { reader("hdf5").read(std::as_bytes(std::span(bytes))); });
    EXPECT_NE(end, ChildEnd::crashed_elsewhere) << name;
    EXPECT_NE(end, ChildEnd::threw) << name;
    crashes += end == ChildEnd::returned ? 0 : 1;
  }
  std::cout << hdf5_library() << " crashes or hangs on " << crashes << " of " << names.size()
            << " files\n";
}

/// A file of `size` bytes, mostly a hole, that says that its header has `length`.
void expect_little_memory(const std::string& beginning, std::uint64_t length, std::uint64_t size) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += beginning;
  bytes.resize(size, ' ');
  write_file("input", std::as_bytes(std::span(bytes)));
  const AllocationPeak peak;
  EXPECT_THROW((void)nn::open_safetensors("input"), IoError);
  EXPECT_LE(peak.bytes(), std::size_t{1} << 20) << beginning.substr(0, 20);
}

/// The block of checksums of a file of ours says how large it is.
TEST(Memory, is_not_made_for_a_table_that_was_not_checked) {
  constexpr std::uint64_t kSize = 64 << 20;
  const std::uint64_t mark = 0x0a41524553534554;  // TESSERA and a line's end
  for (const std::uint64_t ranges : {kSize / 16, kSize / 32, kSize / 4096 - 100, kSize / 8192}) {
    const std::uint64_t block = std::bit_ceil(56 + 16 * ranges);
    const std::array<std::uint64_t, 7> header{mark, 1, block, kSize, ranges, 0, mark};
    SimulatedFileSystem files;
    const FileSystemScope scope(files);
    std::vector<std::byte> bytes(kSize);
    std::ranges::copy(std::as_bytes(std::span(header)), bytes.begin());
    write_file("input", bytes);
    const AllocationPeak peak;
    EXPECT_THROW((void)nn::open_array_file("input"), IoError);
    EXPECT_LE(peak.bytes(), std::size_t{1} << 20) << ranges;
  }
}

/// A file that is a hole of 16 GiB, for which a block may have 64 MiB.
TEST(Memory, is_not_made_for_the_table_of_a_large_file) {
  constexpr std::uint64_t kSize = std::uint64_t{16} << 30;
  const std::uint64_t mark = 0x0a41524553534554;
  const std::uint64_t ranges = kSize / 4096 - (1 << 16);
  const std::array<std::uint64_t, 7> header{
      mark, 1, std::bit_ceil(56 + 16 * ranges), kSize, ranges, 0, mark};
  const testing_support::TemporaryFolder folder;
  const auto file = real_file_system().open(folder / "input", {.create = true});
  file->write_at(std::as_bytes(std::span(header)), 0);
  file->resize(kSize);
  const AllocationPeak peak;
  EXPECT_THROW((void)nn::open_array_file(folder / "input"), IoError);
  EXPECT_LE(peak.bytes(), std::size_t{1} << 20);
}

/// Arrays without elements, of which a header may have any number.
std::string empty_arrays(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "{\"" : ",\"") + std::to_string(i) +
            R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  return text;
}

TEST(Memory, is_not_made_for_arrays_before_all_were_checked) {
  const std::string arrays = empty_arrays(50000);
  const std::string gap = R"(,"a":{"dtype":"U8","shape":[2],"data_offsets":[1,3]})";
  for (const std::string& text : {arrays, arrays + "}", arrays + gap + "}"}) {
    expect_little_memory(text, text.size(), text.size() + 11);  // three bytes of data
  }
}

TEST(Memory, is_not_made_for_a_header_that_was_not_checked) {
  constexpr std::uint64_t kSize = 16 << 20;
  expect_little_memory("", std::uint64_t{1} << 60, kSize);
  expect_little_memory("no header", kSize - 8, kSize);
  expect_little_memory("", kSize - 8, kSize);
  expect_little_memory("{\"" + std::string(15 << 20, 'n'), kSize - 8, kSize);
  expect_little_memory("{\"__metadata__\":{\"a\":\"" + std::string(15 << 20, 'n'), kSize - 8,
                       kSize);
  expect_little_memory("{\"a\":{\"shape\":[" + std::string(15 << 20, '1'), kSize - 8, kSize);
}

}  // namespace
}  // namespace tessera::fuzz
