#include <tessera/kernels/cpu/ops/loss_rows.h>

#include <algorithm>

namespace tessera::cpu {
namespace {

template <class Number>
double sum_of_losses(const Number* losses, std::int64_t count) {
  constexpr std::int64_t kBlock = 256;
  double sum = 0;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    double block = 0;
    for (std::int64_t r = first; r < std::min(count, first + kBlock); ++r) {
      block += losses[r];
    }
    sum += block;
  }
  return sum;
}

}  // namespace

double LossRows::counted(std::int64_t cut) const {
  const std::int64_t size = rows / cuts;
  const std::int64_t* first = targets + cut * size;
  return static_cast<double>(size - std::count(first, first + size, ignore_index));
}

template <class Number>
void LossRows::factors(Number* factors) const {
  const std::int64_t size = rows / cuts;
  for (std::int64_t cut = 0; cut < cuts; ++cut) {
    const double factor = mean ? 1 / counted(cut) : 1;
    for (std::int64_t r = cut * size; r < (cut + 1) * size; ++r) {
      factors[r] = targets[r] == ignore_index ? Number(0) : static_cast<Number>(factor);
    }
  }
}

template <class Number>
std::vector<Number> LossRows::reduce(const Number* losses) const {
  std::vector<Number> results;
  const std::int64_t size = rows / cuts;
  for (std::int64_t cut = 0; cut < cuts; ++cut) {
    const double sum = sum_of_losses(losses + cut * size, size);
    results.push_back(static_cast<Number>(mean ? sum / std::max(counted(cut), 1.0) : sum));
  }
  return results;
}

template void LossRows::factors(float*) const;
template void LossRows::factors(double*) const;
template std::vector<float> LossRows::reduce(const float*) const;
template std::vector<double> LossRows::reduce(const double*) const;

}  // namespace tessera::cpu
