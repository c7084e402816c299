// Finding the module that the first infinity or nan came from.
#include <gtest/gtest.h>

#include <limits>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/log.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/non_finite_search.h>

namespace tessera::nn {
namespace {

struct TwoLinears : Module {
  Child<Linear> first{this, "first", 2, 3};
  Child<Linear> second{this, "second", 3, 2};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return second(first(x)); }
};

struct Root : Module {
  Child<TwoLinears> pair{this, "pair"};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return sum(pair(x)); }
};

TEST(NonFiniteSearch, NamesTheInnermostModuleAndItsParameter) {
  set_seed(1);
  const auto model = make<Root>();
  const Tensor x = ones({4, 2});
  const auto forward = [&] { static_cast<void>(model(x)); };
  EXPECT_EQ(find_non_finite(*model, forward), std::nullopt);
  model->pair->second->weight.value().data<float>()[1] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(find_non_finite(*model, forward),
            "module pair.second (Linear), whose parameter weight is not finite");
  model->pair->first->bias.value().data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(find_non_finite(*model, forward),
            "module pair.first (Linear), whose parameter bias is not finite");
}

TEST(NonFiniteSearch, NamesTheRootWhereItsOwnForwardGoesWrong) {
  struct Log : Module {
    [[nodiscard]] Tensor forward(const Tensor& x) const { return log(x); }
  };
  const auto model = make<Log>();
  const Tensor x = zeros({3});
  EXPECT_EQ(find_non_finite(*model, [&] { static_cast<void>(model(x)); }),
            "the model itself (Log)");
  EXPECT_EQ(find_non_finite(*model, [&] { static_cast<void>(model(ones({3}))); }), std::nullopt);
}

}  // namespace
}  // namespace tessera::nn
