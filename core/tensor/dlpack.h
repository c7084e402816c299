// Tensors in memory that other libraries share: the DLPack structures, ABI of version 0.8
// (https://dmlc.github.io/dlpack), which NumPy, PyTorch and others read and write.
//
//   DLManagedTensor* out = reinterpret_cast<DLManagedTensor*>(to_dlpack(x));   // for somebody else
//   Tensor y = from_dlpack(reinterpret_cast<dlpack::ManagedTensor*>(theirs));
#pragma once

#include <cstdint>

#include <tessera/core/tensor/tensor.h>

namespace tessera {
namespace dlpack {

/// What DLPack calls DLDevice. `type` 1 is a CPU.
struct Device {
  std::int32_t type = 1;
  std::int32_t index = 0;
};

/// DLDataType: elements of `lanes` numbers of `bits` bits.
struct DataType {
  std::uint8_t code = 0;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
};

/// DLTensor. Strides count elements; null for row-major.
struct View {
  void* data = nullptr;
  Device device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;
  std::uint64_t byte_offset = 0;
};

/// DLManagedTensor. Who receives it calls `deleter` once, if there is one.
struct ManagedTensor {
  View view;
  void* context = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;
};

}  // namespace dlpack

/// The elements of `x` for another library, which shares them: writes are seen on both sides. They
/// live until it calls the deleter. Waits until pending work on `x` is done. Throws InvalidArgument
/// for a tensor that requires gradients (detach it: writes elsewhere cannot be taped) and for one
/// without elements in memory (Meta).
[[nodiscard]] dlpack::ManagedTensor* to_dlpack(const Tensor& x);

/// A tensor on elements that another library shares; its deleter is called with the last tensor on
/// them. Throws, and `managed` stays the caller's, Unsupported for another device than a CPU, for a
/// dtype that tensors do not have and for negative strides, InvalidArgument for more than kMaxDims
/// dims, a negative size, and elements that are not aligned.
[[nodiscard]] Tensor from_dlpack(dlpack::ManagedTensor* managed);

}  // namespace tessera
