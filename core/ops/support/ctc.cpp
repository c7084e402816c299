#include <tessera/core/ops/support/ctc.h>

#include <cmath>
#include <limits>
#include <utility>

namespace tessera {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

/// log(e^a + e^b)
double log_add(double a, double b) {
  if (a < b) {
    std::swap(a, b);
  }
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

CtcLattice::CtcLattice(const double* log_probs, std::int64_t stride, std::int64_t frames,
                       const std::vector<std::int64_t>& labels, std::int64_t blank)
    : log_probs_(log_probs), stride_(stride), frames_(frames), classes_{blank} {
  for (const std::int64_t label : labels) {
    classes_.insert(classes_.end(), {label, blank});
  }
  if (frames_ == 0) {
    loss_ = labels.empty() ? 0 : -kNever;
    return;
  }
  sum_forward();
  const double* last = &arriving_[arriving_.size() - states()];
  loss_ = -(states() == 1 ? last[0] : log_add(last[states() - 1], last[states() - 2]));
}

void CtcLattice::sum_forward() {
  const std::size_t count = states();
  arriving_.assign(static_cast<std::size_t>(frames_) * count, kNever);
  arriving_[0] = log_prob(0, 0);
  if (count > 1) {
    arriving_[1] = log_prob(0, 1);
  }
  for (std::int64_t t = 1; t < frames_; ++t) {
    double* now = &arriving_[static_cast<std::size_t>(t) * count];
    const double* before = now - count;
    for (std::size_t s = 0; s < count; ++s) {
      double sum = before[s];
      if (s >= 1) {
        sum = log_add(sum, before[s - 1]);
      }
      if (skips_to(s)) {
        sum = log_add(sum, before[s - 2]);
      }
      now[s] = sum + log_prob(t, s);
    }
  }
}

void CtcLattice::step_back(std::int64_t frame, std::vector<double>& leaving) const {
  for (std::size_t s = 0; s < states(); ++s) {
    leaving[s] += log_prob(frame + 1, s);
  }
  for (std::size_t s = 0; s < states(); ++s) {
    if (s + 1 < states()) {
      leaving[s] = log_add(leaving[s], leaving[s + 1]);
    }
    if (s + 2 < states() && skips_to(s + 2)) {
      leaving[s] = log_add(leaving[s], leaving[s + 2]);
    }
  }
}

void CtcLattice::add_gradient(double* gradient, double scale) const {
  std::vector<double> leaving(states(), kNever);
  leaving.back() = 0;
  if (states() > 1) {
    leaving[states() - 2] = 0;
  }
  for (std::int64_t t = frames_ - 1; t >= 0; --t) {
    if (t < frames_ - 1) {
      step_back(t, leaving);
    }
    const double* arriving = &arriving_[static_cast<std::size_t>(t) * states()];
    for (std::size_t s = 0; s < states(); ++s) {
      gradient[t * stride_ + classes_[s]] -= scale * std::exp(arriving[s] + leaving[s] + loss_);
    }
  }
}

}  // namespace tessera
