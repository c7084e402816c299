// Files of named arrays: what models and checkpoints are kept in.
//
// The interface names no format; the one that writes and reads HDF5 registers itself where HDF5 was
// there at build time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/shape.h>

namespace tessera::nn {

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                                    std::vector<double>, std::vector<std::string>>;

/// A small value beside the arrays. `owner` is the path of a group or array, "" for the file.
struct ArrayAttribute {
  std::string owner;
  std::string name;
  AttributeValue value;
};

/// An array to be written: dense, row-major, alive until the call returns. `path` is the names of
/// its groups and its own, parted by "/"; groups come into being by being named.
struct ArraySource {
  std::string path;
  DType dtype = DType::f32;
  Shape shape;
  const void* data = nullptr;
  /// Not empty: this is one more name of the array `target`, which comes before it and is stored
  /// once; of the rest only `path` counts. See `alias_of`.
  std::string target;

  /// What it takes in the file; nothing for one more name.
  [[nodiscard]] std::size_t nbytes() const {
    return target.empty() ? static_cast<std::size_t>(numel_of(shape)) * size_of(dtype) : 0;
  }
};

[[nodiscard]] inline ArraySource alias_of(const std::string& target, const std::string& path) {
  return {.path = path, .shape = {}, .target = target};
}

/// All that a file holds. The order of names in a group is the order here.
struct ArrayFileContents {
  std::vector<ArraySource> arrays;
  std::vector<std::string> groups;  ///< those without arrays; they come last
  std::vector<ArrayAttribute> attributes;
};

/// An array in a file. `target` is the path under which an alias's bytes were first named.
struct ArrayInfo {
  std::string path;
  DType dtype = DType::f32;
  Shape shape;
  std::string target;
  /// Not empty: why it cannot be read, as `read` says it, naming file and array. A dtype that no
  /// tensor has is such a reason. `dtype` and `shape` then mean nothing.
  std::string refusal{};

  [[nodiscard]] std::size_t nbytes() const {
    return static_cast<std::size_t>(numel_of(shape)) * size_of(dtype);
  }
};

/// An open file of arrays. Not thread-safe.
class ArrayFileReader {
 public:
  virtual ~ArrayFileReader() = default;
  /// Every name of every array, group by group, in the order written; those that cannot be read
  /// too.
  [[nodiscard]] virtual const std::vector<ArrayInfo>& arrays() const = 0;
  [[nodiscard]] virtual std::vector<ArrayAttribute> attributes() = 0;
  /// Fills `bytes`, whose size must be the array's. Throws InvalidArgument for an unknown path,
  /// IoError naming file and array if it cannot be read, with its `refusal` where it has one.
  virtual void read(const std::string& path, std::span<std::byte> bytes) = 0;

  /// The array of that name, or null.
  [[nodiscard]] const ArrayInfo* find(const std::string& path) const;

 protected:
  /// The array `path` of `file`, which is to fill `size` bytes. Throws as `read` does.
  [[nodiscard]] const ArrayInfo& readable(const std::string& file, const std::string& path,
                                          std::size_t size) const;
};

/// The value of `owner`'s attribute `name`, or null if `all` has none of that name and type.
template <class T>
[[nodiscard]] const T* find_attribute(const std::vector<ArrayAttribute>& all,
                                      const std::string& owner, const std::string& name) {
  for (const ArrayAttribute& attribute : all) {
    if (attribute.owner == owner && attribute.name == name) {
      return std::get_if<T>(&attribute.value);
    }
  }
  return nullptr;
}

/// Whether a file must carry checksums. Ours do; those of other programs do not.
enum class Checksums { if_present, required };

/// One way of storing arrays.
class ArrayFileFormat {
 public:
  virtual ~ArrayFileFormat() = default;
  virtual void write(const std::string& path, const ArrayFileContents& contents) = 0;
  virtual std::unique_ptr<ArrayFileReader> open(const std::string& path, Checksums checksums) = 0;
  virtual void verify(const std::string& path) = 0;
};

/// Writes `contents` to `path`, checksums included, and syncs the file (not its name). Throws
/// InvalidArgument for paths that are empty, doubled or lead through an array, IoError when the
/// disk fails, Unsupported where the library was built without HDF5.
void write_array_file(const std::string& path, const ArrayFileContents& contents);

/// Opens a file after its checksums were compared with every byte. A file of ours in which any byte
/// changed gives IoError naming file and array; it never reaches the HDF5 library.
[[nodiscard]] std::unique_ptr<ArrayFileReader> open_array_file(
    const std::string& path, Checksums checksums = Checksums::if_present);

/// Compares every byte with the checksums; throws IoError naming file and array.
void verify_array_file(const std::string& path);

/// Puts a format in place when the program starts; for the file that implements it.
struct ArrayFileFormatRegistration {
  explicit ArrayFileFormatRegistration(std::unique_ptr<ArrayFileFormat> format);
};

}  // namespace tessera::nn
