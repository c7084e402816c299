// The mean of a number over the microbatches of many global batches.
#pragma once

#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// A metric over an epoch: collects a value of each microbatch, pass by pass, over any number of
/// steps, and gives their mean, the same bits on any number of ranks. Values weigh by what they
/// counted (`cross_entropy`, `nn::weighted_mean`), plain ones all alike.
///
///   RunningMean accuracy;
///   for (auto& [x, y] : loader) {
///     accuracy.add(nn::weighted_mean(cast(eq(argmax(model(x), -1), y), DType::f32), ne(y, -100)));
///   }
///   report(accuracy.take(comm));
class RunningMean {
 public:
  /// The value of each microbatch of the current pass: one number, or one a microbatch. Throws
  /// InvalidArgument for others, and where the grain changed since the first.
  void add(const Tensor& value);
  /// The mean over all ranks' microbatches since the last call, 0 where nothing counted.
  /// Collective.
  [[nodiscard]] double take(Communicator& comm);

 private:
  // By microbatch of the global batch; 0 for other ranks' ones.
  std::vector<double> sums_;  ///< of values times what they counted
  std::vector<double> counts_;
};

}  // namespace tessera::dist
