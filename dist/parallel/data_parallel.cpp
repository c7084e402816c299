#include <tessera/dist/parallel/data_parallel.h>

#include <bit>
#include <utility>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/base/bit_facts.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/dist/parallel/agreement.h>
#include <tessera/dist/parallel/gradient_reducer.h>

namespace tessera::dist {
namespace {

/// Hands one parameter's gradients to the reducer.
class ReducerSink final : public GradientSink {
 public:
  ReducerSink(GradientReducer& reducer, std::size_t index) : reducer_(reducer), index_(index) {}
  Tensor destination(LeafNode&) override { return reducer_.destination(index_); }
  Tensor early_destination(LeafNode&) override { return reducer_.early_destination(index_); }
  bool take_dense(LeafNode&, Tensor& dense) override { return reducer_.take_dense(index_, dense); }
  void complete(LeafNode&, Contribution contribution) override {
    reducer_.complete(index_, std::move(contribution));
  }

 private:
  GradientReducer& reducer_;  // owned by the slot that owns the leaf
  std::size_t index_;
};

Facts facts_of_run(const nn::Module& model, const DataParallelOptions& options) {
  Facts facts = bit_facts();
  for (auto& fact : facts_of(model)) {
    facts.push_back(std::move(fact));
  }
  facts.emplace_back("grain", std::to_string(options.grain));
  facts.emplace_back("bytes of the first bucket", std::to_string(options.buckets.first_bytes));
  facts.emplace_back("bucket bytes", std::to_string(options.buckets.bytes));
  return facts;
}

/// What a first call or `build` still has to make cannot be shared.
void check_has_values(const nn::Module& model) {
  for (const auto& [name, slot] : model.named_slots()) {
    check<RuntimeError>(
        slot->value.defined(), "data_parallel: \"", name,
        "\" has no value yet; build the model before, or call it where a first call "
        "tells its sizes");
  }
}

void check_grain_holds(std::int64_t grain, int ranks) {
  check(grain >= ranks, "data_parallel: more ranks than microbatches; got ", ranks,
        " ranks and grain ", grain, ", expected a grain of at least ",
        std::bit_ceil(static_cast<unsigned>(ranks)), " or at most ", grain, " ranks");
}

/// Where samples mix, microbatches run one by one.
void limit_passes(const nn::Module& model, int rank) {
  for (const auto& [path, module] : model.named_modules()) {
    if (!module->mixes_samples() || std::exchange(Context::current().mixes_samples, true)) {
      continue;
    }
    if (rank == 0) {
      log_info("data_parallel: ", path.empty() ? "the model" : path, " (", module->class_name(),
               ") mixes samples, so microbatches run one at a time");
    }
  }
}

}  // namespace

std::shared_ptr<GradientReducer> data_parallel(nn::Module& model,
                                               const std::shared_ptr<Communicator>& comm,
                                               const DataParallelOptions& options) {
  check_has_values(model);
  check_grain_holds(options.grain, comm->size());
  require_agreement(*comm, "data_parallel", facts_of_run(model, options));
  std::vector<nn::Parameter> trained = model.parameters();
  std::erase_if(trained, [](const nn::Parameter& p) { return !p.requires_grad(); });
  auto reducer = std::make_shared<GradientReducer>(trained, comm, options);
  std::size_t index = 0;
  for (const Bucket& bucket : reducer->buckets()) {
    for (const BucketEntry& entry : bucket.entries) {
      entry.slot->synchronizer = reducer;
      leaf_of(entry.slot->value).sink = std::make_shared<ReducerSink>(*reducer, index++);
    }
  }
  std::vector<nn::Buffer> buffers;
  for (auto& [name, buffer] : model.named_buffers()) {
    buffer.slot()->synchronizer = reducer;
    buffers.push_back(buffer);
  }
  reducer->set_buffers(buffers);
  limit_passes(model, comm->rank());
  return reducer;
}

}  // namespace tessera::dist
