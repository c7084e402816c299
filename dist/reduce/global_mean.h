// The mean of a number over global batches.
#pragma once

#include <memory>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Collects a value of each microbatch, pass by pass, over a step or an epoch, and gives the mean
/// over all of their samples: the same bits on any number of ranks. Means over what counts
/// (`cross_entropy`, `nn::weighted_mean`) weigh by what they counted, other values by samples: of
/// two loaders in one step those of the one that moved on last. It lives outside of the loop.
///
///   GlobalMean accuracy;
///   for (auto& [x, y] : loader) {
///     accuracy.add(nn::weighted_mean(cast(eq(argmax(model(x), -1), y), DType::f32), ne(y, -100)));
///   }
///   report(accuracy.take(comm));  // or in the loop, `if (Context::current().pass.last)`
class GlobalMean {
 public:
  /// The value of each microbatch of the current pass: one number, or one a microbatch. Throws
  /// InvalidArgument for others, for what is no mean over samples, for a second value of one pass,
  /// and where the grain changed since the first.
  void add(const Tensor& value);
  /// The mean over all ranks' microbatches since the last call, 0 where nothing counted.
  /// Collective. Throws InvalidArgument, on every rank, where some microbatches have fewer values
  /// than others.
  [[nodiscard]] double take(Communicator& comm);

 private:
  // By microbatch of the global batch; 0 for other ranks' ones.
  std::vector<double> sums_;          ///< of values times weights
  std::vector<double> weights_;       ///< what they counted, or samples
  std::vector<double> added_;         ///< values
  std::weak_ptr<const void> latest_;  ///< the mark of the pass that was added last
};

}  // namespace tessera::dist
