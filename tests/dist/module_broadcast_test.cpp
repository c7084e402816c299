// Row O-9: a module passes through a broadcast, as bytes and as leaves and a tree definition.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/comm/share_text.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>
#include <tessera/nn/state/serialize.h>
#include <tessera/nn/state/tree_def.h>

namespace tessera::dist {
namespace {

struct TiedLinears : nn::Module {
  explicit TiedLinears(std::int64_t width)
      : a(this, "a", width, width), b(this, "b", width, width), width_(width) {
    b->weight.tie(a->weight);
  }
  nn::Child<nn::Linear> a;
  nn::Child<nn::Linear> b;
  std::int64_t width_;
  [[nodiscard]] Tensor forward(const Tensor& x) const { return b(a(x)); }
  [[nodiscard]] nn::Value config() const override { return width_; }
};

void register_once() {
  static const bool once = [] {
    nn::register_class<TiedLinears>("TiedLinears", [](const nn::Value& config) {
      return nn::make<TiedLinears>(config.get<std::int64_t>());
    });
    return true;
  }();
  static_cast<void>(once);
}

/// The bytes of rank 0 on every rank.
std::vector<std::byte> share(Communicator& comm, const std::vector<std::byte>& bytes) {
  const std::string text =
      share_text(comm, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0, "module");
  const auto shared = std::as_bytes(std::span(text));
  return {shared.begin(), shared.end()};
}

/// Ranks start from seeds of their own; only rank 0's module counts.
nn::Ptr<TiedLinears> own_model(Communicator& comm) {
  Context::current().seed = static_cast<std::uint64_t>(comm.rank());
  return nn::make<TiedLinears>(4);
}

std::vector<float> answer(const nn::Module& model) {
  return model(ones({2, 4})).to_vector<float>();
}

TEST(O9, a_module_is_broadcast_as_bytes) {
  register_once();
  std::vector<std::vector<float>> answers(3);
  run_ranks(3, [&](Communicator& comm) {
    const auto mine = own_model(comm);
    const auto shared =
        share(comm, comm.rank() == 0 ? nn::serialize(*mine) : std::vector<std::byte>());
    answers[static_cast<std::size_t>(comm.rank())] = answer(*nn::deserialize(shared));
    if (comm.rank() != 0) {
      EXPECT_NE(answer(*mine), answers[static_cast<std::size_t>(comm.rank())]);
    }
  });
  EXPECT_EQ(answers[0], answers[1]);
  EXPECT_EQ(answers[0], answers[2]);
}

TEST(O9, a_module_is_broadcast_as_leaves_and_tree_definition) {
  register_once();
  std::vector<std::vector<float>> answers(2);
  run_ranks(2, [&](Communicator& comm) {
    const auto mine = own_model(comm);
    const auto [leaves, definition] = mine->flatten();
    const auto bytes = share(comm, nn::serialize(definition.prototype()));
    std::vector<Tensor> received;
    for (const Tensor& leaf : leaves) {
      received.push_back(tessera::clone(leaf));
      broadcast(comm,
                std::span(received.back().data<float>(), static_cast<std::size_t>(leaf.numel())), 0)
          .wait();
    }
    const nn::TreeDef shared(nn::deserialize(bytes));
    EXPECT_EQ(shared.leaf_count(), 3U);
    const nn::ModulePtr model = nn::Module::unflatten(shared, received);
    answers[static_cast<std::size_t>(comm.rank())] = answer(*model);
  });
  EXPECT_EQ(answers[0], answers[1]);
}

}  // namespace
}  // namespace tessera::dist
