// Ten steps of each optimizer against PyTorch's, as errors of the move from the start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/sub.h>
#include <tessera/nn/module.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/precision.h"

namespace tessera::oracle {
namespace {

struct Weights : nn::Module {
  Weights(const Node& start, DType dtype) {
    for (const auto& [name, array] : start.children) {
      register_parameter(name, clone(cast(array.values, dtype)).detach());
    }
  }
};

/// A recorded run made again, step by step.
class OptimizerReplay {
 public:
  OptimizerReplay(const Node& record, const Optimizer& optimizer, const Precision& precision)
      : record_(record),
        precision_(precision),
        model_(nn::make<Weights>(record["start"], precision.parameters)),
        optimizer_(optimizer.make(model_->parameters(), record["arguments"].attributes)) {}

  void expect_near() {
    const Node& gradients = record_["gradients"];
    const std::int64_t steps = gradients.children.front().second.values.size(0);
    for (std::int64_t step = 0; step < steps; ++step) {
      for (const auto& [name, parameter] : model_->named_parameters()) {
        const Tensor gradient = select(gradients[name].values, 0, step);
        parameter.value().set_grad(cast(gradient, precision_.parameters));
      }
      optimizer_->step();
      for (const auto& [name, parameter] : model_->named_parameters()) {
        SCOPED_TRACE(name + " after step " + std::to_string(step + 1));
        expect_near(name, step);
      }
    }
    EXPECT_THAT(record_["arguments"].attributes.unread(), testing::IsEmpty());
  }

 private:
  /// From the start to `value`, in f64.
  [[nodiscard]] Tensor move_to(const Tensor& value, const std::string& name) const {
    return cast(value.detach(), DType::f64) - record_["start"][name].values;
  }

  void expect_near(const std::string& name, std::int64_t step) const {
    const Tensor got = move_to(model_->get_parameter(name).value(), name);
    const Node& recorded = record_["steps"][name];
    const Tensor reference = move_to(select(recorded.values, 0, step), name);
    EXPECT_LE(error_of(got, reference), allowed(recorded, reference, step));
    if (step + 1 == recorded.values.size(0) && record_.has("pytorch")) {  // which is coarser
      const Tensor theirs = move_to(select(record_["pytorch"][name].values, 0, step), name);
      EXPECT_LE(error_of(got, theirs), 0.02);
    }
  }

  [[nodiscard]] double allowed(const Node& recorded, const Tensor& reference,
                               std::int64_t step) const {
    if (precision_.parameters == DType::f64) {
      return 1e-10;
    }
    const auto own = recorded.attributes.numbers(precision_.name);
    return 2 * own.at(static_cast<std::size_t>(step)) + ulp_of(reference, precision_.inputs);
  }

  const Node& record_;
  Precision precision_;
  nn::Ptr<Weights> model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

class Optimizers : public testing::TestWithParam<std::string> {
 protected:
  void expect_all_near(const Precision& precision) {
    for (const auto& [name, record] : fixture()["optimizers"][GetParam()].children) {
      SCOPED_TRACE(name);
      OptimizerReplay(record, Counterparts<Optimizer>::all().at(GetParam()), precision)
          .expect_near();
    }
  }
};

TEST_P(Optimizers, step_in_f64_as_in_pytorch) {
  expect_all_near(kF64);
}

TEST_P(Optimizers, err_in_f32_at_most_twice_as_pytorch_does) {
  expect_all_near(kF32);
}

INSTANTIATE_TEST_SUITE_P(Oracle, Optimizers, testing::ValuesIn(Counterparts<Optimizer>::names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tessera::oracle
