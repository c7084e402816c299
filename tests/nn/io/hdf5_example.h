// One file that holds something of everything.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <tessera/nn/io/array_file.h>

namespace tessera::nn {

/// Arrays of every dtype, empty and 0-d ones, an alias, an empty group and every attribute type.
class ExampleFile {
 public:
  ExampleFile() {
    for (int i = 0; i < kDTypeCount; ++i) {
      const auto dtype = static_cast<DType>(i);
      add("all/" + std::string(to_string(dtype)), dtype, {2, 3});
    }
    add("model/h.0.weight", DType::f32, {40, 50});
    add("model/scalar", DType::f64, {});
    add("model/empty", DType::f32, {0, 7});
    add("model/a", DType::i64, {5});
    contents.arrays.push_back(alias_of("model/h.0.weight", "model/lm_head.weight"));
    contents.groups = {"nothing"};
    contents.attributes = {{"", "count", std::int64_t{-7}},
                           {"", "rate", 0.125},
                           {"", "text", std::string("gr\u00fc\u00dfe")},
                           {"model", "list", std::vector<std::int64_t>{1, 2, 3}},
                           {"model", "reals", std::vector<double>{0.5, -1.5}},
                           {"model/a", "names", std::vector<std::string>{"x", "", "yz"}},
                           {"", "none", std::vector<std::int64_t>{}},
                           {"", "long", std::string(100000, 'l')}};
  }

  void add(const std::string& path, DType dtype, const Shape& shape) {
    const std::size_t size = static_cast<std::size_t>(numel_of(shape)) * size_of(dtype);
    auto& bytes = storage.emplace_back(std::make_unique<std::vector<std::byte>>(size + 1));
    for (std::size_t i = 0; i < size; ++i) {
      (*bytes)[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : (i * 37 + size) % 120);
    }
    contents.arrays.push_back({path, dtype, shape, bytes->data()});
  }

  std::vector<std::unique_ptr<std::vector<std::byte>>> storage;
  ArrayFileContents contents;
};

}  // namespace tessera::nn
