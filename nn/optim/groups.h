// Groups of parameters with options of their own.
#pragma once

#include <type_traits>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/nn/fields.h>
#include <tessera/nn/optim/optimizer.h>

namespace tessera::optim {

/// What stands where options belong by mistake.
template <class T>
concept Number = std::is_arithmetic_v<T>;

/// An optimizer whose groups have options of type `Options`: a struct with a number `lr`, a
/// `validate` that throws ValueError, and a static `each(options, f)` that calls `f(name, option)`
/// for every option. Optimizers inherit its constructors.
template <class Options>
class OptimizerWith : public Optimizer {
 public:
  /// One group, which must not be empty.
  explicit OptimizerWith(const std::vector<nn::Parameter>& parameters,
                         const Options& options = {}) {
    add_first_group(parameters, options);
  }
  template <Number... N>
  OptimizerWith(const std::vector<nn::Parameter>&, N...) = delete;  // by name: {.lr = 0.1}
  /// Begins without parameters: see `add_group`.
  OptimizerWith() = default;

  /// Adds parameters with options of their own. Throws ValueError for one that is in a group
  /// already, or an option that cannot be meant; nothing is added then.
  void add_group(const std::vector<nn::Parameter>& parameters, const Options& options) {
    options.validate();
    add_parameters(parameters, groups_.size());
    groups_.push_back(options);
  }
  template <Number... N>
  void add_group(const std::vector<nn::Parameter>&, N...) = delete;  // by name: {.lr = 0.1}
  [[nodiscard]] const Options& options(std::size_t group = 0) const { return groups_.at(group); }

  using Optimizer::set_lr;
  [[nodiscard]] double lr(std::size_t group = 0) const override { return groups_.at(group).lr; }
  void set_lr(std::size_t group, double lr) override {
    Options changed = groups_.at(group);
    changed.lr = lr;
    changed.validate();
    groups_[group] = changed;
  }
  [[nodiscard]] std::size_t group_count() const override { return groups_.size(); }

 protected:
  using StateKinds = std::vector<StateKind>;

  /// Adds the first group, for constructors of optimizers with a `check_parameter`, which a base
  /// class cannot call.
  void add_first_group(const std::vector<nn::Parameter>& parameters, const Options& options) {
    check<ValueError>(!parameters.empty(), "optimizer: got an empty list of parameters");
    add_group(parameters, options);
  }

 private:
  void read_options(std::size_t group, const ReadField& field) const override {
    Options::each(groups_[group], [&](std::string_view name, const auto& option) {
      field(name, static_cast<double>(option));
    });
  }
  void write_options(const WriteField& field) override {
    std::vector<Options> changed = groups_;
    for (std::size_t group = 0; group < changed.size(); ++group) {
      Options::each(changed[group], [&](std::string_view name, auto& option) {
        const double value = field(group, name, static_cast<double>(option));
        option = static_cast<std::remove_reference_t<decltype(option)>>(value);
      });
      changed[group].validate();
    }
    groups_ = std::move(changed);
  }

  std::vector<Options> groups_;
};

}  // namespace tessera::optim
