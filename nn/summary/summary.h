// What a model is made of, layer by layer, and what one call costs.
//
//   std::cout << nn::summary(model, x);
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <tessera/nn/make.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// One module. Numbers are of what it holds and computes itself, not of what is below it, so that
/// columns add up to the totals.
struct SummaryRow {
  std::string name;  ///< dotted path; empty for the root
  std::string layer;
  int depth = 0;
  std::vector<Shape> outputs;   ///< of the last call; empty where the module is not called itself
  std::int64_t parameters = 0;  ///< elements; a tied parameter counts where it is first
  std::int64_t multiply_adds = 0;  ///< of all calls
};

struct Summary {
  std::vector<SummaryRow> rows;  ///< parents before children, in the order of registration
  std::int64_t parameters = 0;
  std::int64_t trainable = 0;  ///< of them
  std::int64_t multiply_adds = 0;
  std::int64_t input_bytes = 0;
  std::int64_t output_bytes = 0;  ///< of modules without children: what a forward makes
  std::int64_t parameter_bytes = 0;
};

/// Runs a copy of the model without elements, in eval mode, so that nothing is computed, drawn or
/// changed, and no hook runs. Multiply-adds are those of products of matrices, convolutions,
/// attention (causal or not) and recurrent layers, without biases; what is computed outside
/// autograd or inside a checkpointed region counts as nothing. Throws what the forward throws, also
/// where it asks for values; Unsupported naming a class without a copy constructor.
[[nodiscard]] Summary summary(const Module& model, const Tensor& x);
/// The summary of a forward of any arguments, of which tensors alone lose their elements.
template <class M, class... A>
[[nodiscard]] Summary summary(const Ptr<M>& model, const A&... arguments);

/// A table with a line for each module, and the totals.
std::ostream& operator<<(std::ostream& out, const Summary& summary);

namespace detail {

/// x without elements.
[[nodiscard]] Tensor without_elements(const Tensor& x);
template <class T>
const T& without_elements(const T& argument) {
  return argument;
}

/// `call` runs the copy that it is given on inputs of `input_bytes` in all.
[[nodiscard]] Summary summarize(const Module& model, std::int64_t input_bytes,
                                const std::function<Value(const Module&)>& call);

template <class T>
std::int64_t bytes_of_argument(const T& argument) {
  if constexpr (std::same_as<T, Tensor>) {
    return argument.defined() ? static_cast<std::int64_t>(argument.nbytes()) : 0;
  } else {
    return 0;
  }
}

}  // namespace detail

template <class M, class... A>
Summary summary(const Ptr<M>& model, const A&... arguments) {
  const std::int64_t bytes = (std::int64_t{0} + ... + detail::bytes_of_argument(arguments));
  return detail::summarize(*model, bytes, [&](const Module& copy) {
    return detail::pack(detail::invoke<M>(copy, "", detail::without_elements(arguments)...));
  });
}

}  // namespace tessera::nn
