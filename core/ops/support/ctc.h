// The lattice of connectionist temporal classification: one sample, in logarithms.
//
// With states blank, label 1, blank, label 2, ..., blank, a path may stay, go to the next state, or
// skip a blank between two different labels (Graves et al., ICML 2006, section 4.1).
#pragma once

#include <cstdint>
#include <vector>

namespace tessera {

class CtcLattice {
 public:
  /// `log_probs` points to the sample's first frame; frames are `stride` numbers apart.
  CtcLattice(const double* log_probs, std::int64_t stride, std::int64_t frames,
             const std::vector<std::int64_t>& labels, std::int64_t blank);

  /// -log of the probability of all paths; infinite when there is none.
  [[nodiscard]] double loss() const { return loss_; }
  /// Adds to `gradient`, laid out as the log-probabilities, `scale` times that of the loss: minus
  /// the probability that a path is in a state of the class at the frame. NaN where the loss is
  /// infinite.
  void add_gradient(double* gradient, double scale) const;

 private:
  [[nodiscard]] std::size_t states() const { return classes_.size(); }
  [[nodiscard]] double log_prob(std::int64_t frame, std::size_t state) const {
    return log_probs_[frame * stride_ + classes_[state]];
  }
  /// True when paths may come to `state` from two states before it.
  [[nodiscard]] bool skips_to(std::size_t state) const {
    return state >= 2 && classes_[state] != classes_[0] && classes_[state] != classes_[state - 2];
  }
  void sum_forward();
  /// Turns the sums of paths that leave the states of a later frame into those of `frame`.
  void step_back(std::int64_t frame, std::vector<double>& leaving) const;

  const double* log_probs_;
  std::int64_t stride_;
  std::int64_t frames_;
  std::vector<std::int64_t> classes_;  ///< of the states
  std::vector<double> arriving_;       ///< [frames][states]: log of all paths that end there
  double loss_;
};

}  // namespace tessera
