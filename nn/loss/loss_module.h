// What losses as modules share.
#pragma once

#include <string>
#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

/// A module that keeps the options of a loss: losses inherit its constructor.
template <class Options>
class LossWith : public Module {
 public:
  explicit LossWith(const Options& options = {}) : options_(options) {}
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(options_); }

 protected:
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  Options options_;
};

/// One whose option `weight` is a buffer, and part of its state.
template <class Options>
class WeightedLossWith : public LossWith<Options> {
 public:
  explicit WeightedLossWith(const Options& options = {})
      : LossWith<Options>(options), weight(register_weight("weight", options.weight)) {}

  Buffer weight;  ///< undefined without weights

 protected:
  /// The options with the weight that the module has now.
  [[nodiscard]] Options options() const {
    Options options = LossWith<Options>::options();
    options.weight = weight;
    return options;
  }
  /// A buffer with `value`, or a name that is only reserved where that is undefined.
  Buffer register_weight(const std::string& name, const Tensor& value) {
    return value.defined() ? this->register_buffer(name, value)
                           : this->register_buffer(name, nullptr);
  }
};

/// The module of a function `loss` of an input, a target and the options that `Keeper` keeps.
template <auto loss, class Options, template <class> class Keeper = LossWith>
class LossOf : public Keeper<Options> {
  using Kept = Keeper<Options>;

 public:
  using Kept::Kept;
  [[nodiscard]] Tensor forward(const Tensor& input, const Tensor& target) const {
    return loss(input, target, this->options());
  }
};

}  // namespace tessera::nn
