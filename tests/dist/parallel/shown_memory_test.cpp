// Buffers and frozen parameters that lie in the memory of trained ones, which data parallel moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/nn/make.h>
#include <tessera/nn/module.h>

#include "support/error_of.h"

namespace tessera::dist {
namespace {

struct Bare : nn::Module {};

auto on_ranks_of(Communicator& comm, nn::Module& model) {
  return data_parallel(model, {&comm, [](Communicator*) {}}, {.grain = 2});
}

TEST(ShownMemory, of_a_trained_parameter_is_refused_and_nothing_is_moved) {
  run_ranks(2, [](Communicator& comm) {
    const auto model = nn::make<Bare>();
    const Tensor w = ones({6});
    model->register_parameter("w", w);
    model->register_buffer("half", slice(w.detach(), 0, 0, 3));
    EXPECT_EQ(testing_support::error_of<ValueError>([&] { on_ranks_of(comm, *model); }),
              "data_parallel: half lies in the memory of the parameter w, which moves to memory "
              "that the ranks share; expected a clone(x)");
    EXPECT_TRUE(model->get_buffer("half").value().shares_storage(w));
  });
}

TEST(ShownMemory, beside_a_trained_parameter_stays_where_it_is) {
  run_ranks(2, [](Communicator& comm) {
    const auto model = nn::make<Bare>();
    const Tensor flat = arange(6, {.dtype = DType::f32});
    model->register_parameter("trained", slice(flat, 0, 0, 3).detach());
    model->register_parameter("frozen", slice(flat, 0, 3, 6).detach(), false);
    const auto reducer = on_ranks_of(comm, *model);
    EXPECT_EQ(model->get_parameter("frozen").value().to_vector<float>(),
              (std::vector<float>{3, 4, 5}));
    EXPECT_EQ(model->get_parameter("trained").value().to_vector<float>(),
              (std::vector<float>{0, 1, 2}));
  });
}

TEST(ShownMemory, that_columns_share_in_turns_stays_where_it_is) {
  run_ranks(2, [](Communicator& comm) {
    const auto model = nn::make<Bare>();
    const Tensor both = zeros({4, 2});
    model->register_parameter("trained", slice(both, 1, 0, 1).detach());
    model->register_parameter("frozen", slice(both, 1, 1, 2).detach(), false);
    EXPECT_NO_THROW(on_ranks_of(comm, *model));
  });
}

}  // namespace
}  // namespace tessera::dist
