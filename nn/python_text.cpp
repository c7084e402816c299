#include <tessera/nn/python_text.h>

#include <array>
#include <charconv>
#include <cmath>

namespace tessera::nn {
namespace {

struct DTypeNames {
  const char* dtype;
  const char* tensor;
};

/// The names of dtypes, in the order of DType.
constexpr std::array<DTypeNames, kDTypeCount> kNames{{{"bool", "Bool"},
                                                      {"uint8", "Byte"},
                                                      {"int8", "Char"},
                                                      {"int16", "Short"},
                                                      {"int32", "Int"},
                                                      {"int64", "Long"},
                                                      {"float16", "Half"},
                                                      {"bfloat16", "BFloat16"},
                                                      {"float32", "Float"},
                                                      {"float64", "Double"},
                                                      {"complex64", "ComplexFloat"},
                                                      {"complex128", "ComplexDouble"}}};

}  // namespace

std::string python_text(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : (value < 0 ? "-inf" : "inf");
  }
  const double size = std::abs(value);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 32> text{};
  const auto form = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  std::to_chars(text.data(), text.data() + text.size() - 1, value, form);
  const std::string result = text.data();
  return fixed && result.find('.') == std::string::npos ? result + ".0" : result;
}

std::string python_dtype(DType dtype) {
  return std::string("torch.") + kNames[static_cast<std::size_t>(dtype)].dtype;
}

std::string python_tensor_type(DType dtype) {
  return std::string("torch.") + kNames[static_cast<std::size_t>(dtype)].tensor + "Tensor";
}

std::string python_sizes(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape) {
    text.append(text.empty() ? "" : "x").append(std::to_string(size));
  }
  return text;
}

const char* python_bool(bool value) {
  return value ? "True" : "False";
}

}  // namespace tessera::nn
