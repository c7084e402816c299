// Prints the speed of single kernels as JSON rows, and on standard error as shares of the roofs
// measured in turn with them.
//
//   bench_kernels [NAME...]  with 1 thread and with 2, medians of 7 samples; 15 of memory's
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/kernels/cpu/attention.h>
#include <tessera/kernels/cpu/gemm.h>
#include <tessera/kernels/cpu/norm.h>
#include <tessera/kernels/cpu/optimizer.h>
#include <tessera/kernels/cpu/product_library.h>
#include <tessera/kernels/cpu/softmax.h>

#include "roofs.h"

namespace {

using tessera::DType;
using tessera::Tensor;
using tessera::cpu::ProductProvider;

constexpr int kSamples = 7;
constexpr int kCopySamples = 15;  // memory is shared with other machines' work

/// One thing to measure: `work` is FLOPs or bytes of one call.
struct Subject {
  std::string name, labels;
  bench::Roof roof;
  double work;
  std::function<void()> call;
  std::function<void()> rival;  ///< the same by oneDNN, or empty
};

double seconds_of(const std::function<void()>& call, int calls = 1) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    call();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

/// Seconds of a call, sampled as a roof is: for as long, and not with the first call, which finds
/// the caches and the page tables as another one's work left them.
double sample(const std::function<void()>& call) {
  const double first = seconds_of(call);
  return seconds_of(call, 1 + static_cast<int>(bench::kSampleSeconds / first));
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

/// A row of JSON.
void print(const std::string& name, const Subject& subject, int threads, double value,
           const char* unit) {
  static const char* separator = "";
  std::cout << separator << "{\"name\": \"" << name << "\", " << subject.labels
            << "\"threads\": " << threads << ", \"value\": " << value << ", \"unit\": \"" << unit
            << "\"}";
  separator = ", ";
}

/// Samples, with those of the roof taken right after each.
struct Samples {
  std::vector<double> speeds, shares;

  void add(double speed, double roof) {
    speeds.push_back(speed);
    shares.push_back(speed / roof);
  }
};

/// A row of its speed and one of its share of the roof, which people see as well.
void print(const std::string& name, const Subject& subject, int threads, const Samples& samples) {
  const double speed = median(samples.speeds) / 1e9;
  const double share = median(samples.shares);
  print(name, subject, threads, speed, bench::is_copy(subject.roof) ? "GB/s" : "GFLOP/s");
  print(name + "_share", subject, threads, share, "of the roof");
  std::cerr << name << " " << subject.labels << threads << " threads: " << speed << ", "
            << 100 * share << " % of " << bench::to_string(subject.roof) << std::endl;
}

/// Measures with `threads` threads, kernel, rival and roof in turn, and prints a row of each.
void measure(const Subject& subject, int threads) {
  Samples own, rival;
  const int samples = bench::is_copy(subject.roof) ? kCopySamples : kSamples;
  for (int i = 0; i < samples; ++i) {
    const double speed = subject.work / sample(subject.call);
    const double other = subject.rival ? subject.work / sample(subject.rival) : 0;
    const double roof = bench::measure(subject.roof, threads);
    own.add(speed, roof);
    rival.add(other, roof);
  }
  print(subject.name, subject, threads, own);
  if (subject.rival) {
    print(subject.name + "_onednn", subject, threads, rival);
  }
}

Tensor values(std::int64_t rows, std::int64_t columns) {
  return tessera::rand({rows, columns});
}

Subject layer_norm() {
  constexpr std::int64_t kRows = 32768, kColumns = 768;
  const Tensor x = values(kRows, kColumns), y = values(kRows, kColumns), w = values(1, kColumns);
  return {"layer_norm", "", bench::Roof::dram_copy, 8.0 * kRows * kColumns, [=] {
            tessera::cpu::NormForward n;
            n.rows = kRows, n.columns = kColumns;
            n.x = x.raw_data(), n.y = y.raw_data();
            n.scale = n.shift = w.data<float>();
            tessera::cpu::norm_forward(n);
          }};
}

/// Reads x and dy, writes dx; the gradients of parameters are small.
Subject layer_norm_backward() {
  constexpr std::int64_t kRows = 32768, kColumns = 768;
  const Tensor x = values(kRows, kColumns), dy = values(kRows, kColumns),
               dx = values(kRows, kColumns);
  const Tensor w = values(3, kColumns), statistics = values(2, kRows);
  return {"layer_norm_backward", "", bench::Roof::dram_copy, 12.0 * kRows * kColumns, [=] {
            tessera::cpu::NormBackward n;
            n.rows = kRows, n.columns = kColumns;
            n.x = x.raw_data(), n.dy = dy.raw_data(), n.dx = dx.raw_data();
            n.mean = statistics.data<float>(), n.inverse = n.mean + kRows;
            n.scale = w.data<float>();
            n.dscale = w.data<float>() + kColumns, n.dshift = w.data<float>() + 2 * kColumns;
            tessera::cpu::norm_backward(n);
          }};
}

Subject softmax() {
  constexpr std::int64_t kRows = 32768, kColumns = 1024;
  const Tensor x = values(kRows, kColumns), y = values(kRows, kColumns);
  return {"softmax", "", bench::Roof::dram_copy, 8.0 * kRows * kColumns, [=] {
            tessera::cpu::softmax_forward(DType::f32, x.raw_data(), y.raw_data(), kRows, kColumns,
                                          false);
          }};
}

Subject softmax_backward() {
  constexpr std::int64_t kRows = 24576, kColumns = 1024;
  const Tensor y = values(kRows, kColumns), dy = values(kRows, kColumns),
               dx = values(kRows, kColumns);
  return {"softmax_backward", "", bench::Roof::dram_copy, 12.0 * kRows * kColumns, [=] {
            tessera::cpu::softmax_backward(DType::f32, y.raw_data(), dy.raw_data(), dx.raw_data(),
                                           kRows, kColumns, false);
          }};
}

/// As many parameters as GPT-2 has. Not a power of two: arrays that lie one apart find the same
/// banks of memory busy, which costs a quarter and befalls no model.
Subject adamw() {
  constexpr std::int64_t kCount = 124'439'808;
  const Tensor p = values(1, kCount), g = values(1, kCount), m = values(1, kCount);
  const Tensor v = values(1, kCount);
  return {"adamw", "", bench::Roof::dram_copy, 28.0 * kCount, [=] {
            const tessera::cpu::ParameterRange range{.parameter = p.data<float>(),
                                                     .gradient = g.data<float>(),
                                                     .states = {m.data<float>(), v.data<float>()},
                                                     .count = kCount};
            tessera::cpu::adamw_step({}, {&range, 1});
          }};
}

/// Forward reads the logits; backward reads them again and overwrites them with their gradient.
Subject cross_entropy() {
  constexpr std::int64_t kRows = 512, kColumns = 50257;
  const Tensor x = values(kRows, kColumns), losses = values(1, kRows);
  const auto targets = std::make_shared<std::vector<std::int64_t>>(kRows, 17);
  const auto log_sums = std::make_shared<std::vector<tessera::cpu::LogSum>>(kRows);
  return {"cross_entropy", "", bench::Roof::dram_copy, 12.0 * kRows * kColumns, [=] {
            tessera::cpu::CrossEntropyRows c;
            c.rows = kRows, c.columns = kColumns;
            c.logits = x.raw_data(), c.targets = targets->data();
            float* of_rows = losses.data<float>();
            tessera::cpu::cross_entropy_forward(c, of_rows, log_sums->data());
            tessera::cpu::cross_entropy_backward(c, log_sums->data(), of_rows, DType::f32,
                                                 x.raw_data(), kColumns);
          }};
}

Subject gemm(const char* kind, std::int64_t m, std::int64_t n, std::int64_t k, DType compute) {
  const bool half = compute == DType::bf16;
  const std::string shape = std::string(kind) + "_" + std::to_string(m) + "x" + std::to_string(n) +
                            "x" + std::to_string(k);
  const bool of_weight = kind == std::string("grad_weight");
  const bool forward = kind == std::string("forward");
  const Tensor a = tessera::rand({m, k}, {.dtype = compute});
  const Tensor b = tessera::rand({k, n}, {.dtype = of_weight ? compute : DType::f32});
  const Tensor c = values(m, n);
  const auto multiply = [=](ProductProvider provider) {
    tessera::cpu::set_product_provider(provider);
    tessera::cpu::Gemm g;
    g.m = m, g.n = n, g.k = k, g.compute = compute;
    g.a = {a.raw_data(), a.dtype(), of_weight ? 1 : k, of_weight ? m : 1};
    g.b = {b.raw_data(), b.dtype(), forward ? 1 : n, forward ? k : 1};
    g.c = c.raw_data(), g.c_stride = n;
    tessera::cpu::gemm(g);
  };
  Subject subject{"gemm",
                  "\"shape\": \"" + shape + "\", \"dtype\": \"" + (half ? "bf16" : "f32") + "\", ",
                  half ? bench::Roof::fma_bf16 : bench::Roof::fma_f32,
                  2.0 * static_cast<double>(m * n) * static_cast<double>(k),
                  [=] { multiply(ProductProvider::own); },
                  {}};
  if (tessera::cpu::has_product_library()) {
    subject.rival = [=] { multiply(ProductProvider::onednn); };
  }
  return subject;
}

/// Causal, forward and backward: 7 products over half of the square.
Subject attention(std::int64_t batch, std::int64_t length, DType dtype, double dropout) {
  constexpr std::int64_t kHeads = 12, kDim = 64;
  const auto make = [&] { return tessera::rand({batch, length, kHeads, kDim}, {.dtype = dtype}); };
  const std::vector<Tensor> all{make(), make(), make(), make(), make(), make(), make(), make()};
  const Tensor lse = values(batch * kHeads, length);
  const double square = static_cast<double>(batch * kHeads * length) * static_cast<double>(length);
  const std::string name = tessera::to_string(dtype).data();
  std::string labels = "\"length\": " + std::to_string(length);
  labels += ", \"dtype\": \"" + name + "\", ";
  labels += dropout > 0 ? "\"dropout\": true, " : "";
  return {"attention", labels, dtype == DType::bf16 ? bench::Roof::fma_bf16 : bench::Roof::fma_f32,
          7 * square * kDim, [=] {
            const auto heads = [&](std::size_t i) {
              return tessera::cpu::Heads{all[i].raw_data(), length * kHeads * kDim, kDim,
                                         kHeads * kDim};
            };
            tessera::cpu::AttentionGradient g;
            tessera::cpu::Attention& a = g.forward;
            a.batch = batch, a.heads = a.key_heads = kHeads, a.head_dim = kDim, a.dtype = dtype;
            a.queries = a.keys = length, a.scale = 0.125F, a.causal = true;
            a.q = heads(0), a.k = heads(1), a.v = heads(2), a.out = heads(3);
            a.log_sum_exp = lse.data<float>();
            a.dropout = tessera::cpu::DropoutDraw(dropout, 1, 0);
            g.dout = heads(4), g.dq = heads(5), g.dk = heads(6), g.dv = heads(7);
            tessera::cpu::attention_forward(a);
            tessera::cpu::attention_backward(g);
          }};
}

/// Subjects by name; each is made, with its memory, when its turn comes.
std::vector<std::pair<std::string, std::function<Subject()>>> subjects() {
  std::vector<std::pair<std::string, std::function<Subject()>>> all{
      {"layer_norm", layer_norm}, {"layer_norm_backward", layer_norm_backward},
      {"softmax", softmax},       {"softmax_backward", softmax_backward},
      {"adamw", adamw},           {"cross_entropy", cross_entropy}};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const std::int64_t length : {256, 1024}) {
      for (const double dropout : {0.0, 0.1}) {
        all.emplace_back("attention",
                         [=] { return attention(1024 / length, length, dtype, dropout); });
      }
    }
    const auto add = [&](const char* kind, std::int64_t m, std::int64_t n, std::int64_t k) {
      all.emplace_back("gemm", [=] { return gemm(kind, m, n, k, dtype); });
    };
    add("forward", 1024, 768, 768);
    add("forward", 1024, 3072, 768);
    add("forward", 1024, 768, 3072);
    add("grad_input", 1024, 768, 3072);
    add("grad_weight", 3072, 768, 1024);
    add("forward", 1024, 50257, 768);
    add("grad_input", 1024, 768, 50257);
    add("grad_weight", 50257, 768, 1024);
  }
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> names(arguments + 1, arguments + count);
  std::cout << "{\"bench\": \"kernels\", \"rows\": [";
  for (const int threads : {1, 2}) {
    tessera::set_num_threads(threads);
    for (const auto& [name, make] : subjects()) {
      if (names.empty() || std::ranges::count(names, name) > 0) {
        measure(make(), threads);
      }
    }
  }
  std::cout << "]}" << std::endl;
  return 0;
}
