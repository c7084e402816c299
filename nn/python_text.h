// Values as Python prints them: what the printed forms of modules are made of.
#pragma once

#include <string>

#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/shape.h>

namespace tessera::nn {

/// "1.0", "0.01", "1e-05", "inf": the shortest text that gives the number again.
[[nodiscard]] std::string python_text(double value);
/// "True" or "False".
[[nodiscard]] const char* python_bool(bool value);
/// PyTorch's names: "torch.float32", "torch.FloatTensor".
[[nodiscard]] std::string python_dtype(DType dtype);
[[nodiscard]] std::string python_tensor_type(DType dtype);
/// "2x3"
[[nodiscard]] std::string python_sizes(const Shape& shape);

}  // namespace tessera::nn
