// Labels of sequences whose alignment to the input is not known.
#pragma once

#include <tessera/nn/loss/loss_module.h>
#include <tessera/nn/loss/reduction.h>

namespace tessera::nn {

struct CTCLossOptions {
  std::int64_t blank = 0;  ///< the class that stands for no label
  Reduction reduction =
      Reduction::mean;         ///< of losses divided by their target's length, at least 1
  bool zero_infinity = false;  ///< samples too short for their target count nothing

  static void each(auto& o, const auto& f) {
    visit_fields(f, "blank", o.blank, "reduction", o.reduction, "zero_infinity", o.zero_infinity);
  }
};

/// -log of the probability of all alignments of the targets to the input (Graves et al.,
/// "Connectionist Temporal Classification", ICML 2006): log-probabilities (T, N, C), labels (N, S)
/// or one after another (sum of target_lengths), input_lengths and target_lengths (N); or (T, C),
/// (S), () and (). Labels, in [0, C) and never `blank`, and lengths are integers. A sample whose
/// input is too short for its target has an infinite loss and a gradient of NaN, as in PyTorch.
/// The gradient is that of `log_probs` as they are: PyTorch's holds the same once it went through
/// log_softmax.
[[nodiscard]] Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets,
                              const Tensor& input_lengths, const Tensor& target_lengths,
                              const CTCLossOptions& options = {});

/// ctc_loss as a module.
class CTCLoss : public LossWith<CTCLossOptions> {
 public:
  using LossWith::LossWith;
  [[nodiscard]] Tensor forward(const Tensor& log_probs, const Tensor& targets,
                               const Tensor& input_lengths, const Tensor& target_lengths) const {
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, options());
  }
};

}  // namespace tessera::nn
