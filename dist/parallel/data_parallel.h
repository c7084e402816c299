// Data parallel training: every rank holds the whole model and runs its own microbatches.
//
// Gradients are views into buckets. When the last gradient of a bucket is complete, in the rank's
// last pass of a step, the bucket's reduction starts while backward goes on; reductions start in
// index order on every rank alike. After backward `grad` is the mean over the global batch.
#pragma once

#include <memory>

#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/parallel/bucket_layout.h>
#include <tessera/nn/module.h>

namespace tessera::dist {

struct DataParallelOptions {
  std::int64_t grain = 1;  ///< microbatches in a global batch; at least the number of ranks
  BucketOptions buckets{};
};

/// Makes `model` train data parallel over `comm`. What is trained moves into memory that ranks of
/// one host share; slots and tensors stay the same. Collective.
///
/// Between steps parts of the model may be frozen, unfrozen, replaced and added, on every rank
/// alike: the next backward carries it through. The parts keep what is returned; where all of them
/// may be replaced, keep it yourself. A model that is data parallel already may be made so again,
/// or as a part of another one: all ranks of before take part in it. Gradient hooks and `grad` see
/// the mean over the global batch; `grad` lies in memory that the next step's passes write to, so
/// copy what you keep.
///
/// Throws Disagreement naming ranks and parameter when the ranks' models differ, InvalidArgument
/// when the grain does not fit the ranks, a parameter has a gradient already or is another data
/// parallel model's, too, or between two passes of a step, ValueError naming two parameters on one
/// memory, or a buffer in that of a parameter. Every rank must run backward once a pass; a backward
/// that throws is caught on all ranks, or on none. `backward` and the optimizer's `step` throw
/// Disagreement on every rank, naming ranks and both values, before anything is updated, when ranks
/// differ in what they train, on which data or with which options.
std::shared_ptr<class GradientReducer> data_parallel(nn::Module& model,
                                                     const std::shared_ptr<Communicator>& comm,
                                                     const DataParallelOptions& options);
void data_parallel(nn::Module&, const class World&,  // give it world.communicator()
                   const DataParallelOptions&) = delete;

}  // namespace tessera::dist
