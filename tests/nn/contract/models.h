// Small modules that the tests of the contract's rows share.
#pragma once

#include <string>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/module.h>

namespace tessera::nn::contract {

/// A name that holds nothing but itself.
struct Leaf : Module {
  Tensor forward(const Tensor& x) const { return x; }
};

struct Scale : Module {
  explicit Scale(std::int64_t n = 3) : factor(this, "factor", {n}, init::constant(2)) {}
  Parameter factor;
  Tensor forward(const Tensor& x) const { return x * factor; }
};

/// inner.scale and offset below outer.
struct Inner : Module {
  Child<Scale> scale{this, "scale"};
  Buffer offset{this, "offset", ones({3})};
  Tensor forward(const Tensor& x) const { return scale(x) + offset; }
};

struct Outer : Module {
  Child<Inner> inner{this, "inner"};
  Child<Scale> last{this, "last"};
  Tensor forward(const Tensor& x) const { return last(inner(x)); }
};

/// One slot as inner.scale.factor and as last.factor.
struct TiedOuter : Outer {
  TiedOuter() { last->factor.tie(inner->scale->factor); }
};

/// May take a Scale's place, with a forward of its own.
struct Negative : Scale {
  Tensor forward(const Tensor& x) const { return x * -1.0; }
};

template <class List>
std::string names_of(const List& list) {
  std::string text;
  for (const auto& [name, value] : list) {
    text += name + " ";
  }
  return text;
}

}  // namespace tessera::nn::contract
