// Time per module call beyond its ops: a forward that returns its argument.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/layers/sequential.h>

namespace tessera::nn {
namespace {

constexpr int kCalls = 1000;
constexpr int kChildren = 10;
constexpr int kSamples = 101;

struct Same : Module {
  Tensor forward(const Tensor& x) const { return x; }
};

struct OneChild : Module {
  Child<Same> same{this, "same"};
  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (int i = 0; i < kCalls; ++i) {
      y = same(y);
    }
    return y;
  }
};

/// Median over samples of the nanoseconds that `run`, which makes `calls` calls, takes for each.
template <class Run>
double median_ns(int calls, const Run& run) {
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    samples.push_back(spent.count() / calls);
  }
  std::ranges::nth_element(samples, samples.begin() + kSamples / 2);
  return samples[kSamples / 2];
}

void print_rows() {
  const Tensor x = ones({8});
  const auto one = make<OneChild>();
  const auto ten = make<Sequential>();
  for (int i = 0; i < kChildren; ++i) {
    ten->add<Same>();
  }
  const double child = median_ns(kCalls, [&] { static_cast<void>(one(x)); });
  const double sequential = median_ns(kCalls * kChildren, [&] {
    for (int i = 0; i < kCalls; ++i) {
      static_cast<void>(ten(x));
    }
  });
  std::printf(R"({"bench": "calls", "rows": [)"
              R"({"name": "module_call", "value": %.1f, "unit": "ns"}, )"
              R"({"name": "sequential_child", "value": %.1f, "unit": "ns"}]})"
              "\n",
              child, sequential);
}

}  // namespace
}  // namespace tessera::nn

int main() {
  tessera::nn::print_rows();
  return 0;
}
