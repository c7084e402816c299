#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/core/device/huge_pages.h>

namespace tessera {
namespace {

// Values of Linux's interface that older headers do not have.
constexpr int kPopulateWrite = 23;
constexpr int kCollapse = 25;

using Mapping = std::shared_ptr<std::byte>;

Mapping mapping_of(std::size_t nbytes, int file = -1) {
  return {map_from_huge_page(nbytes, file), [nbytes](std::byte* p) { munmap(p, nbytes); }};
}

/// An open file in memory.
std::shared_ptr<int> memory_file(std::size_t nbytes) {
  const int file = memfd_create("huge_pages_test", MFD_CLOEXEC);
  EXPECT_EQ(ftruncate(file, static_cast<off_t>(nbytes)), 0);
  return {new int(file), [](const int* p) {
            close(*p);
            delete p;
          }};
}

std::size_t small_page() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t resident_pages(const std::byte* data, std::size_t nbytes) {
  std::vector<unsigned char> pages((nbytes + small_page() - 1) / small_page());
  EXPECT_EQ(mincore(const_cast<std::byte*>(data), nbytes, pages.data()), 0);
  return static_cast<std::size_t>(
      std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; }));
}

/// Bytes of huge pages in the mapping that begins at `data`, by the kernel's own account.
std::size_t huge_bytes(const std::byte* data) {
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<std::uintptr_t>(data) << '-';
  std::ifstream maps("/proc/self/smaps");
  std::size_t kib = 0;
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string name;
    std::size_t value = 0;
    words >> name;
    if (!name.ends_with(':')) {
      here = line.starts_with(begin.str());
    } else if (here && (name == "ShmemPmdMapped:" || name == "AnonHugePages:") && words >> value) {
      kib += value;
    }
  }
  return kib << 10;
}

TEST(HugePages, MappingsBeginAtOneAndAreZero) {
  for (const std::size_t nbytes :
       {std::size_t{1}, std::size_t{4097}, kHugePage, 3 * kHugePage + 5}) {
    const auto file = memory_file(nbytes);
    for (const Mapping& memory : {mapping_of(nbytes), mapping_of(nbytes, *file)}) {
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % kHugePage, 0);
      EXPECT_EQ(std::count(memory.get(), memory.get() + nbytes, std::byte{0}),
                static_cast<std::ptrdiff_t>(nbytes));
    }
  }
}

TEST(HugePages, MappingsOfAFileShareIt) {
  const std::size_t nbytes = 2 * kHugePage + 100;
  const auto file = memory_file(nbytes);
  const Mapping one = mapping_of(nbytes, *file);
  const Mapping other = mapping_of(nbytes, *file);
  one.get()[kHugePage + 7] = std::byte{7};
  take_pages({other.get(), nbytes});
  EXPECT_EQ(other.get()[kHugePage + 7], std::byte{7});
  other.get()[nbytes - 1] = std::byte{9};
  EXPECT_EQ(one.get()[nbytes - 1], std::byte{9});
}

TEST(HugePages, NoMappingOfWhatIsNoFile) {
  EXPECT_EQ(map_from_huge_page(kHugePage, 1 << 20), nullptr);
  EXPECT_EQ(errno, EBADF);
}

/// Whatever part of a mapping is taken: its pages are there, others are not, and bytes stay.
TEST(HugePages, TakesAllPagesOfAPart) {
  const std::size_t nbytes = 5 * kHugePage;
  const std::size_t first = kHugePage / 2 + 10;
  const std::size_t count = 3 * kHugePage;
  const auto file = memory_file(nbytes);
  for (const Mapping& memory : {mapping_of(nbytes), mapping_of(nbytes, *file)}) {
    std::byte* const part = memory.get() + first;
    part[2 * kHugePage] = std::byte{3};
    if (madvise(memory.get(), small_page(), kPopulateWrite) != 0) {
      GTEST_SKIP() << "this kernel does not take pages on request";
    }
    take_pages({part, count});
    take_pages({});
    const std::byte* const page = part - 10;
    EXPECT_EQ(resident_pages(page, count), count / small_page());
    EXPECT_EQ(resident_pages(memory.get() + 4 * kHugePage, kHugePage), 0);
    EXPECT_EQ(part[2 * kHugePage], std::byte{3});
    EXPECT_EQ(std::count(part, part + count, std::byte{0}), static_cast<std::ptrdiff_t>(count) - 1);
  }
}

TEST(HugePages, FilesInMemoryGetThem) {
  const std::size_t nbytes = 4 * kHugePage;
  const auto file = memory_file(nbytes);
  const Mapping memory = mapping_of(nbytes, *file);
  *memory = std::byte{1};
  if (madvise(memory.get(), kHugePage, kCollapse) != 0) {
    GTEST_SKIP() << "this kernel joins no pages of files in memory";
  }
  const std::size_t rest = nbytes - kHugePage;
  take_pages({memory.get() + kHugePage, rest});
  EXPECT_GT(huge_bytes(memory.get()), kHugePage);   // of the rest what the machine has left
  const Mapping other = mapping_of(nbytes, *file);  // another rank's
  EXPECT_EQ(*other, std::byte{1});
  EXPECT_EQ(huge_bytes(other.get()), kHugePage);
}

}  // namespace
}  // namespace tessera
