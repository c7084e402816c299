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

template <class Number>
void write_factors(const LossRows& all, Number* factors) {
  const std::int64_t size = all.rows / all.cuts;
  for (std::int64_t cut = 0; cut < all.cuts; ++cut) {
    const double factor = all.mean ? 1 / all.counted(cut) : 1;
    for (std::int64_t r = cut * size; r < (cut + 1) * size; ++r) {
      factors[r] = all.targets[r] == all.ignore_index ? Number(0) : static_cast<Number>(factor);
    }
  }
}

template <class Number>
std::vector<Number> reduced(const LossRows& all, const Number* losses) {
  std::vector<Number> results;
  const std::int64_t size = all.rows / all.cuts;
  for (std::int64_t cut = 0; cut < all.cuts; ++cut) {
    const double sum = sum_of_losses(losses + cut * size, size);
    results.push_back(static_cast<Number>(all.mean ? sum / std::max(all.counted(cut), 1.0) : sum));
  }
  return results;
}

}  // namespace

double LossRows::counted(std::int64_t cut) const {
  const std::int64_t size = rows / cuts;
  const std::int64_t* first = targets + cut * size;
  return static_cast<double>(size - std::count(first, first + size, ignore_index));
}

void LossRows::factors(float* factors) const {
  write_factors(*this, factors);
}
void LossRows::factors(double* factors) const {
  write_factors(*this, factors);
}

std::vector<float> LossRows::reduce(const float* losses) const {
  return reduced(*this, losses);
}
std::vector<double> LossRows::reduce(const double* losses) const {
  return reduced(*this, losses);
}

}  // namespace tessera::cpu
