// A tree of modules with something of everything that weights in files may be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/layers/activation/relu.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// 2 by 3, element i being (7 i + `seed`) mod 11.
inline Tensor pattern(DType dtype, int seed) {
  std::vector<float> values;
  for (int i = 0; i < 6; ++i) {
    values.push_back(static_cast<float>((7 * i + seed) % 11));
  }
  Tensor all = empty({2, 3});
  std::ranges::copy(values, all.data<float>());
  return cast(all, dtype);
}

/// One tensor of every dtype that parameters and buffers may have, or all but c128.
struct EveryDType : Module {
  explicit EveryDType(bool c128 = true) {
    for (int i = 0; i < kDTypeCount - (c128 ? 0 : 1); ++i) {
      const auto dtype = static_cast<DType>(i);
      const std::string name(to_string(dtype));
      if (is_differentiable(dtype)) {
        register_parameter("p_" + name, pattern(dtype, i), i % 2 == 0);
      }
      register_buffer("b_" + name, pattern(dtype, i + 1));
    }
  }
};

/// Sizes that are easily forgotten.
struct OddShapes : Module {
  Parameter scalar = register_parameter("scalar", full({}, 2.5));
  Parameter nothing = register_parameter("nothing", empty({0, 4}));
  Buffer steps{this, "steps", full({}, 7, {.dtype = DType::i64})};
  Buffer scratch{this, "scratch", ones({2}), false};
};

struct WithExtraState : Module, HasExtraState {
  Parameter weight = register_parameter("weight", ones({2}));
  Value state = Value::Map{{"text", "hello"}, {"list", Value::List{1, 2.5, true, Value()}}};
  [[nodiscard]] Value get_extra_state() const override { return state; }
  void set_extra_state(const Value& value) override { state = value; }
  [[nodiscard]] int state_version() const override { return 3; }
};

struct Everything : Module {
  explicit Everything(bool c128 = true) : dtypes(this, "dtypes", c128) {
    head->weight.tie(embedding->weight);
  }
  Child<Linear> embedding{this, "zebra", 3, 5};  // not the first by name
  Child<ReLU> relu{this, "relu"};
  Child<EveryDType> dtypes;
  Child<Linear> head{this, "head", 3, 5};
  Child<OddShapes> shapes{this, "shapes"};
  Child<WithExtraState> extra{this, "extra"};
};

/// Whether the two have the same names with the same bytes, dtypes and shapes.
inline bool same_tensors(const StateDict& a, const StateDict& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (const auto& [name, value] : a) {
    const Value* other = b.find(name);
    if (other == nullptr || value.is<Tensor>() != other->is<Tensor>()) {
      return false;
    }
    if (value.is<Tensor>()) {
      const Tensor x = contiguous(value.tensor());
      const Tensor y = contiguous(other->tensor());
      const bool same = x.dtype() == y.dtype() && x.shape() == y.shape() &&
                        std::equal(static_cast<const std::byte*>(x.raw_data()),
                                   static_cast<const std::byte*>(x.raw_data()) + x.nbytes(),
                                   static_cast<const std::byte*>(y.raw_data()));
      if (!same) {
        return false;
      }
    }
  }
  return true;
}

/// The names of a file's arrays, in its order.
inline std::vector<std::string> names_in(const ArrayFileReader& reader) {
  std::vector<std::string> names;
  for (const ArrayInfo& info : reader.arrays()) {
    names.push_back(info.path);
  }
  return names;
}

/// Sets all tensors of `module` to zero.
inline void zero(Module& module) {
  for (const auto& [name, slot] : module.named_slots()) {
    const Tensor value = slot->value.detach();
    std::fill_n(static_cast<std::byte*>(value.raw_data()), value.nbytes(), std::byte{0});
  }
}

}  // namespace tessera::nn
