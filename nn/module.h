// Module: a tree of state with a forward.
//
//   struct Mlp : nn::Module {
//     nn::Child<nn::Linear> hidden{this, "hidden", 784, 512};
//     nn::Child<nn::Linear> out{this, "out", 512, 10};
//     Tensor forward(const Tensor& x) const { return out(relu(hidden(x))); }
//   };
//   auto model = nn::make<Mlp>();
//   Tensor y = model(x);
#pragma once

#include <tessera/nn/child.h>
#include <tessera/nn/fields.h>
#include <tessera/nn/make.h>
#include <tessera/nn/state/variables.h>
#include <tessera/nn/tree/module.h>
