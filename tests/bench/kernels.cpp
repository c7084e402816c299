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

#include "roofs.h"
#include "support/kernels/memory.h"
#include "support/kernels/products.h"

namespace {

using bench::Subject;
using tessera::DType;

constexpr int kSamples = 7;
constexpr int kCopySamples = 15;  // memory is shared with other machines' work

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
  std::vector<double> speeds, roofs, shares;

  void add(double speed, double roof) {
    speeds.push_back(speed);
    roofs.push_back(roof);
    shares.push_back(speed / roof);
  }
};

/// Rows of its speed, of the roof and of its share of it, which people see as well.
void print(const std::string& name, const Subject& subject, int threads, const Samples& samples) {
  const double speed = median(samples.speeds) / 1e9;
  const double share = median(samples.shares);
  const char* unit = bench::is_copy(subject.roof) ? "GB/s" : "GFLOP/s";
  print(name, subject, threads, speed, unit);
  print(name + "_roof", subject, threads, median(samples.roofs) / 1e9, unit);
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

/// Subjects by name; each is made, with its memory, when its turn comes.
std::vector<std::pair<std::string, std::function<Subject()>>> subjects() {
  std::vector<std::pair<std::string, std::function<Subject()>>> all{
      {"layer_norm", bench::layer_norm}, {"layer_norm_backward", bench::layer_norm_backward},
      {"softmax", bench::softmax},       {"softmax_backward", bench::softmax_backward},
      {"adamw", bench::adamw},           {"cross_entropy", bench::cross_entropy}};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const std::int64_t length : {256, 1024}) {
      for (const double dropout : {0.0, 0.1}) {
        all.emplace_back("attention",
                         [=] { return bench::attention(1024 / length, length, dtype, dropout); });
      }
    }
    const auto add = [&](const char* kind, std::int64_t m, std::int64_t n, std::int64_t k) {
      all.emplace_back("gemm", [=] { return bench::gemm(kind, m, n, k, dtype); });
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
