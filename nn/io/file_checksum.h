// Checksums over a whole file, kept in a block at its start that other programs skip.
//
// The block holds the file's size and a table of consecutive ranges, each with its hash, that cover
// every byte after the block; a hash of the block itself covers the rest. So a changed byte is
// found anywhere, and its range says in which array it lies. HDF5 calls such a block the user
// block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tessera/core/base/file.h>

namespace tessera::nn {

/// A range of a file and the hash of its bytes. It begins where the one before ends.
struct HashedRange {
  std::uint64_t length = 0;
  std::uint64_t hash = 0;
};

/// Where a range lies in its file.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Longest range: what is checked at one go.
inline constexpr std::uint64_t kHashedRangeBytes = 4 << 20;

/// Bytes of the smallest block for `ranges` ranges: a power of two, at least 4096.
[[nodiscard]] std::uint64_t checksum_block_size(std::uint64_t ranges);

/// The block of a file whose bytes after it are `ranges`.
[[nodiscard]] std::vector<std::byte> make_checksum_block(std::uint64_t block_size,
                                                         std::span<const HashedRange> ranges);

/// Fills what is free in the page of HDF5's superblock, which follows the block, so that a file
/// whose block is gone is still known for one of ours.
void mark_superblock(std::span<std::byte> page);

/// The table of a file.
struct ChecksumTable {
  std::uint64_t block_size = 0;  ///< 0: the file carries no checksums
  std::vector<HashedRange> ranges;
};

/// Reads and checks the block. Throws IoError naming `path` where it is damaged or gone, made by a
/// newer version, or says another size than the file has. `path` serves messages only.
[[nodiscard]] ChecksumTable read_checksum_block(File& file, const std::string& path);

/// The ranges whose bytes no longer give their hash, in order. Runs on the thread pool.
[[nodiscard]] std::vector<ByteRange> find_damage(File& file, const std::string& path,
                                                 const ChecksumTable& table);

}  // namespace tessera::nn
