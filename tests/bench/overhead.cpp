// Time per op beyond its kernel: an op whose kernel does nothing, in a chain; also beside a tensor
// that a collective wrote before, and on tensors that hold microbatches.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/elementwise.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/dist/comm/collective.h>
#include <tessera/dist/comm/loopback.h>

namespace tessera {
namespace {

/// The gradient of the op below is itself, so that backward runs the same pipeline once more.
struct Nothing {
  static constexpr OpInfo info{.name = "nothing",
                               .doc = "computes nothing: measures calls",
                               .elementwise = true,
                               .saved_inputs = 0b11};
  struct Attrs {
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs&) { infer_elementwise(c, 2, promoted_dtype(c)); }
  static void reference(Kernel&, const Attrs&) {}
  static void vjp(Vjp& v, const Attrs&) {
    if (v.needs(0)) {
      v.set(0, call<Nothing>({v.gradient(), v.input(1)}));
    }
  }
  static ShardRule shard(const Infer& c, const Attrs&) { return elementwise_rule(c); }
};

const Register<Nothing> register_nothing;

constexpr int kChain = 1000;
constexpr int kSamples = 31;

Tensor chain(Tensor x, const Tensor& y) {
  for (int i = 0; i < kChain; ++i) {
    x = call<Nothing>({x, y});
  }
  return x;
}

/// Median over samples of the nanoseconds that `run` takes for each op of a chain.
template <class Run>
double median_ns(const Run& run) {
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    samples.push_back(spent.count() / kChain);
  }
  std::ranges::nth_element(samples, samples.begin() + kSamples / 2);
  return samples[kSamples / 2];
}

/// A tensor on which a collective once wrote.
Tensor reduced() {
  const auto ranks = dist::make_loopback(2);
  const Tensor own = ones({8}), other = ones({8});
  std::vector<dist::Work> works;
  for (const Tensor& x : {own, other}) {
    dist::Collective c{.kind = dist::CollectiveKind::all_reduce};
    c.send = c.receive = dist::Operand(x);
    c.count = 8;
    works.push_back(ranks[works.size()]->launch(std::move(c)));
  }
  for (const dist::Work& work : works) {
    work.wait();
  }
  return own;
}

void print_rows() {
  const Tensor x = ones({8}).set_requires_grad(true);
  const Tensor y = ones({8});
  const double forward = median_ns([&] {
    const NoGradGuard no_grad;
    static_cast<void>(chain(x, y));
  });
  const Tensor z = reduced();
  const double after_collective = median_ns([&] {
    const NoGradGuard no_grad;
    static_cast<void>(chain(x, z));
  });
  const Tensor held = ones({8});
  held.get().set_microbatches({.count = 4, .dim = 0});
  const double microbatches = median_ns([&] {
    const NoGradGuard no_grad;
    static_cast<void>(chain(held, held));
  });
  const double recorded = median_ns([&] { static_cast<void>(chain(x, y)); });
  const double both = median_ns([&] { chain(x, y).backward(y); });
  std::printf(R"({"bench": "overhead", "rows": [)"
              R"({"name": "op_forward", "value": %.1f, "unit": "ns"}, )"
              R"({"name": "op_forward_after_collective", "value": %.1f, "unit": "ns"}, )"
              R"({"name": "op_forward_4_microbatches", "value": %.1f, "unit": "ns"}, )"
              R"({"name": "op_forward_recorded", "value": %.1f, "unit": "ns"}, )"
              R"({"name": "op_forward_backward", "value": %.1f, "unit": "ns"}]})"
              "\n",
              forward, after_collective, microbatches, recorded, both);
}

}  // namespace
}  // namespace tessera

int main() {
  tessera::print_rows();
  return 0;
}
