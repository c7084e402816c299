#include <tessera/nn/io/hdf5_writer.h>

#include <set>

#include <tessera/core/base/file.h>
#include <tessera/core/base/hash.h>
#include <tessera/nn/io/file_checksum.h>
#include <tessera/nn/io/hdf5_layout.h>
#include <tessera/nn/io/staged_writer.h>

namespace tessera::nn {
namespace {

void check_path(const std::string& path) {
  const bool plain = !path.empty() && path.front() != '/' && path.back() != '/' &&
                     path.find("//") == std::string::npos && path.find('\0') == std::string::npos;
  check(plain, "save: names are parted by single slashes; got '", path, "'");
  for (const std::string& part : {"/" + path + "/"}) {
    check(part.find("/./") == std::string::npos, "save: '.' is no name; got '", path, "'");
  }
}

void check_names(const ArrayFileContents& contents) {
  std::set<std::string> names;
  const auto add = [&](const std::string& path) {
    check_path(path);
    check(names.insert(path).second, "save: two arrays have the name '", path, "'");
  };
  for (const ArraySource& array : contents.arrays) {
    check(array.target.empty() || names.contains(array.target), "save: '", array.path,
          "' is a second name of '", array.target, "', which is not there");
    add(array.path);
  }
  for (const std::string& path : names) {
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
      check(!names.contains(path.substr(0, at)), "save: '", path, "' lies in '", path.substr(0, at),
            "', which is an array");
    }
  }
}

std::span<const std::byte> bytes_of(const ArraySource& array) {
  return {static_cast<const std::byte*>(array.data), array.nbytes()};
}

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t step) {
  return (bytes + step - 1) / step * step;
}

std::uint64_t padded_bytes(const ArrayFileContents& contents) {
  std::uint64_t sum = 0;
  for (const ArraySource& array : contents.arrays) {
    sum += rounded_up(bytes_of(array).size(), kDirectAlignment);
  }
  return sum;
}

std::uint64_t range_count(const ArrayFileContents& contents) {
  std::uint64_t count = 2;  // the superblock and the rest of the metadata
  for (const ArraySource& array : contents.arrays) {
    count += rounded_up(bytes_of(array).size(), kHashedRangeBytes) / kHashedRangeBytes;
  }
  return count;
}

/// Streams the arrays to their offsets and notes their checksums, in the layout and in `ranges`.
void write_arrays(File& file, std::uint64_t begin, Hdf5Layout& layout,
                  const ArrayFileContents& contents, std::vector<HashedRange>& ranges) {
  StagedWriter writer(file, begin);
  std::uint64_t offset = begin;
  for (std::size_t i = 0; i < contents.arrays.size(); ++i) {
    const ArraySource& array = contents.arrays[i];
    if (!array.target.empty()) {
      continue;
    }
    check<InternalError>(layout.offsets()[i].value_or(offset) == offset, "save: '", array.path,
                         "' has another offset; got ", layout.offsets()[i].value_or(0),
                         ", expected ", offset);
    const std::size_t first = ranges.size();
    writer.append(bytes_of(array), ranges);
    offset += rounded_up(bytes_of(array).size(), kDirectAlignment);
    layout.set_checksum(array.path, hash_bytes(std::as_bytes(std::span(ranges).subspan(first))));
  }
  writer.finish();
}

/// Writes what surrounds the arrays: checksums and superblock before them, metadata after.
void write_metadata(File& file, std::uint64_t user_block, const Hdf5ImageStorage& storage,
                    std::vector<HashedRange> ranges) {
  std::vector<std::byte> superblock(storage.superblock().begin(), storage.superblock().end());
  mark_superblock(superblock);
  const auto rest = storage.rest();
  ranges.insert(ranges.begin(), {superblock.size(), hash_bytes(superblock)});
  ranges.push_back({rest.size(), hash_bytes(rest)});
  file.write_at(rest, storage.arrays_end());
  std::vector<std::byte> head = make_checksum_block(user_block, ranges);
  head.insert(head.end(), superblock.begin(), superblock.end());
  file.write_at(head, 0);
}

void write_laid_out(const std::string& path, const ArrayFileContents& contents,
                    Hdf5ImageStorage& storage, std::uint64_t user_block) {
  Hdf5Layout layout(storage, user_block, contents, path);
  const auto file = file_system().open(path, {.create = true, .direct = true});
  std::vector<HashedRange> ranges;
  write_arrays(*file, storage.arrays_begin(), layout, contents, ranges);
  layout.close();
  write_metadata(*file, user_block, storage, std::move(ranges));
  file->sync();
}

}  // namespace

void write_hdf5_file(const std::string& path, const ArrayFileContents& contents) {
  check_names(contents);
  const Hdf5Quiet quiet;
  const std::uint64_t user_block = checksum_block_size(range_count(contents));
  Hdf5ImageStorage storage(user_block, padded_bytes(contents));
  try {
    write_laid_out(path, contents, storage, user_block);
  } catch (const IoError&) {
    if (storage.error != nullptr) {
      std::rethrow_exception(storage.error);  // the cause of what HDF5 said
    }
    throw;
  }
}

}  // namespace tessera::nn
