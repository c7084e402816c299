#include <tessera/dist/parallel/data_parallel.h>

#include <bit>

#include <tessera/core/autograd/accumulation.h>
#include <tessera/core/base/numerics_fingerprint.h>
#include <tessera/dist/parallel/agreement.h>
#include <tessera/dist/parallel/gradient_reducer.h>

namespace tessera::dist {
namespace {

Facts facts_of_run(const nn::Module& model, const DataParallelOptions& options) {
  Facts facts = numerics_fingerprint();
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

}  // namespace

std::shared_ptr<GradientReducer> data_parallel(nn::Module& model,
                                               const std::shared_ptr<Communicator>& comm,
                                               const DataParallelOptions& options) {
  check(!has_accumulations(),
        "data_parallel: applied between two passes of a step, whose earlier gradients are this "
        "rank's alone; apply it before the loop, or between steps");
  check_has_values(model);
  check_grain_holds(options.grain, comm->size());
  require_agreement(*comm, "data_parallel", facts_of_run(model, options));
  auto reducer = std::make_shared<GradientReducer>(
      model, comm, options, [](const std::shared_ptr<Communicator>& ranks, const FlatOwnership&) {
        return std::make_unique<AllReduce>(ranks);
      });
  reducer->model().follow(model);
  return reducer;
}

}  // namespace tessera::dist
