#include <gtest/gtest.h>

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/optim/runs.h>

namespace tessera::optim {
namespace {

StepTensors tensors(const Shape& shape) {
  return {full(shape, 1), full(shape, 2), {full(shape, 3), full(shape, 4)}};
}

std::int64_t elements_of(const std::vector<StepTensors>& run) {
  std::int64_t elements = 0;
  for (const StepTensors& p : run) {
    elements += p.parameter.numel();
  }
  return elements;
}

/// Marks each element of a run by the run's number, in all its tensors.
void mark(const std::vector<StepTensors>& run, float number) {
  for (const StepTensors& p : run) {
    std::vector<Tensor> all{p.parameter, p.gradient};
    all.insert(all.end(), p.states.begin(), p.states.end());
    for (const Tensor& x : all) {
      for (std::int64_t i = 0; i < x.numel(); ++i) {
        x.data<float>()[i] += 100 * number;
      }
    }
  }
}

TEST(Runs, hold_every_element_once_and_in_order) {
  const std::vector<StepTensors> whole{tensors({3, 5}), tensors({0}), tensors({7}), tensors({18})};
  const auto runs = cut_into_runs(whole, 10);
  ASSERT_EQ(runs.size(), 4U);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    EXPECT_EQ(elements_of(runs[r]), 10);
    mark(runs[r], static_cast<float>(r + 1));
  }
  for (std::int64_t at = 0; const StepTensors& p : whole) {
    for (std::int64_t i = 0; i < p.parameter.numel(); ++i, ++at) {
      const auto marked = 100 * static_cast<float>(at / 10 + 1);
      EXPECT_EQ(p.parameter.data<float>()[i], 1 + marked);
      EXPECT_EQ(p.gradient.data<float>()[i], 2 + marked);
      EXPECT_EQ(p.states[0].data<float>()[i], 3 + marked);
      EXPECT_EQ(p.states[1].data<float>()[i], 4 + marked);
    }
  }
}

TEST(Runs, a_run_that_has_room_takes_parameters_as_they_are) {
  const std::vector<StepTensors> whole{tensors({3, 5}), tensors({7})};
  const auto runs = cut_into_runs(whole, 22);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0][0].parameter.shape(), Shape({3, 5}));
  EXPECT_EQ(runs[0][1].states[1].raw_data(), whole[1].states[1].raw_data());
  EXPECT_TRUE(cut_into_runs({}, 22).empty());
}

}  // namespace
}  // namespace tessera::optim
