// A parameter whose gradient the ranks reduce.
#pragma once

#include <cstddef>
#include <string>

#include <tessera/dist/parallel/bucket_layout.h>
#include <tessera/dist/parallel/microbatch_sums.h>

namespace tessera::dist {

/// One parameter on this rank: what all parts of the reduction of gradients know of it.
struct ReducedParameter {
  BucketEntry entry;
  std::size_t bucket = 0;
  std::string name;
  Tensor value;  ///< the slot's, while the ranks agree on it
  MicrobatchSums sums;
  bool trained = true;  ///< else frozen: it takes no part
  bool agreed = true;   ///< `trained`, as the ranks agreed on it

  // Of the backward under way:
  bool reached = false;   ///< it came to the parameter, in the last pass
  bool complete = false;  ///< and the parameter's sums are settled
  bool early = false;     ///< and were before the first bucket was launched, with rows to come
  Tensor before{};        ///< the gradient of earlier backwards of the step, which it is added to
  bool before_counted_nothing = false;
  bool before_given = false;  ///< by the program, and of no backward
  bool replaced = false;      ///< the gradient is no longer that one, nor none where there was none

  // What the last backwards were like on all ranks (launch_order.h):
  int without_dense = 0;  ///< backwards since the last that brought a dense gradient
  int early_for = 0;      ///< backwards since the last that did not bring it early

  /// Where the sum over all ranks comes to lie.
  [[nodiscard]] Tensor gradient() const { return sums.memory(0); }
};

}  // namespace tessera::dist
