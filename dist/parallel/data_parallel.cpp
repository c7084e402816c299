#include <tessera/dist/parallel/data_parallel.h>

#include <tessera/core/autograd/meta.h>
#include <tessera/dist/parallel/agreement.h>
#include <tessera/dist/parallel/gradient_reducer.h>

namespace tessera::dist {
namespace {

/// Hands one parameter's gradients to the reducer.
class ReducerSink final : public GradientSink {
 public:
  ReducerSink(GradientReducer& reducer, std::size_t index) : reducer_(reducer), index_(index) {}
  Tensor destination(LeafNode&) override { return reducer_.destination(index_); }
  void complete(LeafNode&, Contribution contribution) override {
    reducer_.complete(index_, std::move(contribution));
  }

 private:
  GradientReducer& reducer_;  // owned by the slot that owns the leaf
  std::size_t index_;
};

Facts facts_of_run(const nn::Module& model, const DataParallelOptions& options) {
  Facts facts = facts_of(model);
  facts.emplace_back("grain", std::to_string(options.grain));
  facts.emplace_back("bucket bytes", std::to_string(options.buckets.bytes));
  return facts;
}

}  // namespace

std::shared_ptr<GradientReducer> data_parallel(nn::Module& model,
                                               const std::shared_ptr<Communicator>& comm,
                                               const DataParallelOptions& options) {
  require_agreement(*comm, "data_parallel", facts_of_run(model, options));
  std::vector<nn::Parameter> trained = model.parameters();
  std::erase_if(trained, [](const nn::Parameter& p) { return !p.slot()->requires_grad; });
  auto reducer = std::make_shared<GradientReducer>(trained, comm, options);
  std::size_t index = 0;
  for (const Bucket& bucket : reducer->buckets()) {
    for (const BucketEntry& entry : bucket.entries) {
      entry.slot->synchronizer = reducer;
      leaf_of(entry.slot->value).sink = std::make_shared<ReducerSink>(*reducer, index++);
    }
  }
  return reducer;
}

}  // namespace tessera::dist
