// Tensors and values on their way to a file of arrays.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/slot.h>
#include <tessera/nn/value.h>

namespace tessera::nn {

/// Contents of a file to be written, and the memory that they point to. A slot's value is written
/// once; what comes later is one more name of it.
class OutgoingArrays {
 public:
  /// The elements of `value` in row-major order. Throws NotImplementedError where it has none.
  void add(const std::string& path, const Tensor& value);
  /// `value` of `slot`, `transposed` or not; false where it is one more name. Throws RuntimeError
  /// saying why there is no value.
  bool add(const std::string& path, const Tensor& value, const Slot& slot, bool transposed = false);
  /// `value` as bytes. Throws as to_bytes does, naming it as users know it.
  void add_value(const std::string& path, const Value& value, const std::string& name);

  [[nodiscard]] ArrayFileContents& contents() { return contents_; }
  [[nodiscard]] const ArrayFileContents& contents() const { return contents_; }

 private:
  struct Written {
    const Slot* slot;
    const void* data;
    bool transposed;
    std::string path;
  };

  ArrayFileContents contents_;
  std::vector<Written> written_;
  std::deque<Tensor> tensors_;
  std::deque<std::vector<std::byte>> bytes_;
};

}  // namespace tessera::nn
