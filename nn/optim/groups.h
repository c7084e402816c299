// Groups of parameters with options of their own.
#pragma once

#include <vector>

#include <tessera/nn/optim/optimizer.h>

namespace tessera::optim {

/// An optimizer whose groups have options of type `Options`: a struct with a number `lr` and a
/// static `each(options, f)` that calls `f(name, option)` for every option.
template <class Options>
class OptimizerWith : public Optimizer {
 public:
  /// Adds parameters with options of their own. Throws InvalidArgument for one that is in a group
  /// already, or an option that cannot be meant.
  void add_group(const std::vector<nn::Parameter>& parameters, const Options& options) {
    options.validate();
    add_parameters(parameters, groups_.size());
    groups_.push_back(options);
  }
  [[nodiscard]] const Options& options(std::size_t group = 0) const { return groups_.at(group); }

  using Optimizer::set_lr;
  [[nodiscard]] double lr(std::size_t group = 0) const override { return groups_.at(group).lr; }
  void set_lr(std::size_t group, double lr) override { groups_.at(group).lr = lr; }
  [[nodiscard]] std::size_t group_count() const override { return groups_.size(); }

 protected:
  using Optimizer::Optimizer;

 private:
  void read_options(std::size_t group, const ReadField& field) const override {
    Options::each(groups_[group], [&](std::string_view name, const auto& option) {
      field(name, static_cast<double>(option));
    });
  }
  void write_options(std::size_t group, const WriteField& field) override {
    Options::each(groups_[group], [&](std::string_view name, auto& option) {
      const double value = field(name, static_cast<double>(option));
      option = static_cast<std::remove_reference_t<decltype(option)>>(value);
    });
  }

  std::vector<Options> groups_;
};

}  // namespace tessera::optim
