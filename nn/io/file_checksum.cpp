#include <tessera/nn/io/file_checksum.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/core/base/hash.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/nn/io/aligned_buffer.h>
#include <tessera/nn/io/hdf5_signature.h>

namespace tessera::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

constexpr std::array<char, 8> kMagic{'T', 'E', 'S', 'S', 'E', 'R', 'A', '\n'};
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kSmallestBlock = 4096;
constexpr std::uint64_t kLargestBlock = std::uint64_t{1} << 30;
constexpr std::uint64_t kPiece = 64 << 10;
constexpr std::size_t kMarksBegin = 512;  // in the page of the superblock

struct ChecksumHeader {
  std::array<char, 8> magic = kMagic;
  std::uint64_t version = kVersion;
  std::uint64_t block_size = 0;
  std::uint64_t file_size = 0;
  std::uint64_t ranges = 0;
  std::uint64_t block_hash = 0;            // of the block with this field zero
  std::array<char, 8> end_magic = kMagic;  // damage to one of the two does not hide the block
};
static_assert(sizeof(ChecksumHeader) == 56 && sizeof(HashedRange) == 16);

/// Sets the field of the hash to zero in a block, or in the beginning of one.
void clear_hash(std::span<std::byte> block) {
  const std::uint64_t zero = 0;
  std::memcpy(block.data() + offsetof(ChecksumHeader, block_hash), &zero, sizeof zero);
}

/// Hashes in pieces: a header that was not checked yet says how long the block is.
bool has_hash(File& file, const ChecksumHeader& header) {
  BytesHash hash;
  std::vector<std::byte> piece(std::min(header.block_size, kPiece));
  for (std::uint64_t at = 0; at < header.block_size; at += piece.size()) {
    if (file.read_at(piece, at) != piece.size()) {
      return false;
    }
    if (at == 0) {
      clear_hash(piece);
    }
    hash.add(piece);
  }
  return hash.value() == header.block_hash;
}

/// Whether a page is that of a superblock of ours, which is followed by marks; other programs put
/// the root group there.
bool is_superblock_page(std::span<const std::byte> page) {
  for (std::size_t at = kMarksBegin; at < page.size(); at += kMagic.size()) {
    if (std::memcmp(page.data() + at, kMagic.data(), kMagic.size()) == 0) {
      return true;
    }
  }
  return false;
}

/// Whether a file without block is one of ours that lost it.
bool lost_block(File& file) {
  std::array<std::byte, kDirectAlignment> page;
  const std::uint64_t size = file.size();
  for (std::uint64_t at = kSmallestBlock; at <= std::min(size, kLargestBlock); at *= 2) {
    if (has_hdf5_signature(file, at) && file.read_at(page, at) == page.size() &&
        is_superblock_page(page)) {
      return true;
    }
  }
  return false;
}

std::uint64_t total_length(std::uint64_t block_size, std::span<const HashedRange> ranges) {
  std::uint64_t size = block_size;
  for (const HashedRange& range : ranges) {
    size += range.length;
  }
  return size;
}

bool is_ours(const ChecksumHeader& header) {
  return header.magic == kMagic || header.end_magic == kMagic;
}

void check_header(const ChecksumHeader& header, std::uint64_t size, const std::string& path) {
  check<IoError>(header.magic == header.end_magic, "load: '", path,
                 "' is damaged: its checksum block does not match its own checksum");
  check<IoError>(header.version <= kVersion, "load: '", path,
                 "' was written by a newer Tessera; got file format ", header.version,
                 ", expected at most ", kVersion);
  check<IoError>(header.file_size == size, "load: '", path, "' is truncated or damaged; got ", size,
                 " bytes, expected ", header.file_size);
  // All ranges but the last have at least a page, so the block is small beside the file.
  const bool fits = header.block_size <= std::min(size, kLargestBlock) &&
                    header.ranges <= (size - header.block_size) / kDirectAlignment + 1 &&
                    header.block_size == checksum_block_size(header.ranges);
  check<IoError>(fits, "load: '", path, "' is damaged: its checksum block has impossible sizes");
}

}  // namespace

std::uint64_t checksum_block_size(std::uint64_t ranges) {
  return std::max(kSmallestBlock,
                  std::bit_ceil(sizeof(ChecksumHeader) + ranges * sizeof(HashedRange)));
}

std::vector<std::byte> make_checksum_block(std::uint64_t block_size,
                                           std::span<const HashedRange> ranges) {
  check<InternalError>(checksum_block_size(ranges.size()) <= block_size,
                       "checksum block: too small for ", ranges.size(), " ranges");
  std::vector<std::byte> block(block_size);
  ChecksumHeader header;
  header.block_size = block_size;
  header.file_size = total_length(block_size, ranges);
  header.ranges = ranges.size();
  std::memcpy(block.data(), &header, sizeof header);
  std::memcpy(block.data() + sizeof header, ranges.data(), ranges.size_bytes());
  header.block_hash = hash_bytes(block);  // the field is still zero
  std::memcpy(block.data(), &header, sizeof header);
  return block;
}

void mark_superblock(std::span<std::byte> page) {
  for (std::size_t at = kMarksBegin; at < page.size(); at += kMagic.size()) {
    std::memcpy(page.data() + at, kMagic.data(), kMagic.size());
  }
}

ChecksumTable read_checksum_block(File& file, const std::string& path) {
  ChecksumHeader header;
  const auto header_bytes = std::as_writable_bytes(std::span(&header, 1));
  if (file.read_at(header_bytes, 0) < sizeof header || !is_ours(header)) {
    check<IoError>(!lost_block(file), "load: '", path, "' is damaged: its checksum block is gone");
    return {};
  }
  check_header(header, file.size(), path);
  check<IoError>(has_hash(file, header), "load: '", path,
                 "' is damaged: its checksum block does not match its own checksum");
  ChecksumTable table{header.block_size, std::vector<HashedRange>(header.ranges)};
  const auto ranges = std::as_writable_bytes(std::span(table.ranges));
  const bool whole = file.read_at(ranges, sizeof header) == ranges.size();
  check<IoError>(whole && total_length(table.block_size, table.ranges) == header.file_size,
                 "load: '", path, "' is damaged: its checksums do not cover it");
  return table;
}

std::vector<ByteRange> find_damage(File& file, const std::string& path,
                                   const ChecksumTable& table) {
  std::vector<ByteRange> places;
  std::uint64_t at = table.block_size;
  for (const HashedRange& range : table.ranges) {
    places.push_back({at, at + range.length});
    at += range.length;
  }
  std::vector<char> damaged(places.size());
  parallel_for(static_cast<std::int64_t>(places.size()), [&](std::int64_t task) {
    const auto i = static_cast<std::size_t>(task);
    const HashedRange& range = table.ranges[i];
    thread_local AlignedBuffer buffer;
    const std::span<std::byte> bytes = buffer.resized(range.length);
    const std::size_t got = file.read_at(bytes, places[i].begin);
    check<IoError>(got == bytes.size(), "load: '", path, "' shrank while it was read");
    damaged[i] = hash_bytes(bytes) != range.hash;
  });
  std::vector<ByteRange> result;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (damaged[i]) {
      result.push_back(places[i]);
    }
  }
  return result;
}

}  // namespace tessera::nn
