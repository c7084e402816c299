// The mean of a number over the microbatches of a global batch.
#pragma once

#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Collects a value of each microbatch, pass by pass, and gives the mean over the global batch: the
/// same bits on any number of ranks. Losses that are means over what counts weigh by their counts.
///
///   GlobalMean loss_mean;
///   for (auto& [x, y] : loader) {            // once a pass
///     ...
///     loss_mean.add(loss);
///     if (Context::current().pass.last) report(loss_mean.take(comm));
///   }
class GlobalMean {
 public:
  /// The value of each microbatch of the current pass: one number, or one a microbatch.
  void add(const Tensor& value);
  /// The mean over all ranks' microbatches; begins anew. Collective.
  [[nodiscard]] double take(Communicator& comm);

 private:
  // By microbatch of the global batch; 0 for other ranks' ones.
  std::vector<double> values_;
  std::vector<double> counts_;  ///< denominators, 1 for plain values
};

}  // namespace tessera::dist
