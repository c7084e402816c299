#include <tessera/core/autograd/checkpoint.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/autograd/saved_tensor.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/module_path.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/tensor/factory_draws.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

using RegionFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// What a forward reads of its surroundings.
struct Surroundings {
  std::shared_ptr<Context> context = Context::current_shared();
  Pass pass = context->pass;
  std::uint64_t seed = context->seed;
  std::uint64_t step = context->step;
  RandomDraws draws = context->draws;
  std::uint64_t factory_draws = FactoryDraws::made();
  bool step_draws = StepDraws::alive();
  std::string path = current_module_path();
  std::optional<DType> autocast = Modes::current().autocast;
};

/// The context of a forward as it was then: a copy, since other threads may share it.
std::shared_ptr<Context> context_of(const Surroundings& s) {
  auto context = std::make_shared<Context>(*s.context);
  context->pass = s.pass;
  context->seed = s.seed;
  context->step = s.step;
  context->draws = s.draws;
  return context;
}

/// Brings back the surroundings of a forward for a scope.
class SurroundingsScope {
 public:
  explicit SurroundingsScope(const Surroundings& s)
      : context_(context_of(s)),
        factory_draws_(s.factory_draws),
        step_draws_(s.step_draws),
        path_(s.path),
        autocast_(s.autocast) {}
  SurroundingsScope(const SurroundingsScope&) = delete;
  SurroundingsScope& operator=(const SurroundingsScope&) = delete;

 private:
  ContextScope context_;
  FactoryDraws factory_draws_;
  StepDraws step_draws_;
  ModulePathOverride path_;
  ModeGuard<&Modes::autocast> autocast_;
  ModeGuard<&Modes::record> record_{true};
  ModeGuard<&Modes::inference> inference_{false};
  SumsApart apart_;
  ModeGuard<&Modes::recomputing> recomputing_{true};
  CategoryScope category_{MemoryCategory::activation};
};

/// Keeps nothing: stands for a tensor of the second run's tape, which nobody will read.
class Nothing final : public PackedTensor {
 public:
  Tensor unpack() override { return {}; }
};

/// A checkpointed call. Tensors that its ops save are numbered in order of saving.
class Region : public std::enable_shared_from_this<Region> {
 public:
  Region(RegionFunction function, std::span<const Tensor> inputs) : function_(std::move(function)) {
    for (const Tensor& x : inputs) {
      // Saved as an op would: by an outer region's hooks, if there is one.
      inputs_.push_back({x.defined() ? SavedTensor(x) : SavedTensor(), x.requires_grad()});
    }
  }

  /// Null: the tape keeps the tensor itself.
  std::unique_ptr<PackedTensor> pack(const Tensor& tensor, std::span<const Tensor> inputs);
  Tensor unpack(std::size_t number);
  OutsideLog& outside() { return outside_; }

 private:
  struct Input {
    SavedTensor tensor;
    bool requires_grad;
  };
  /// A tensor that the first run saved.
  struct Activation {
    Shape shape;
    bool kept = false;  ///< by the tape
    SavedTensor made;   ///< by the second run, until it is read
  };
  class Packed;
  class Collector;
  void recompute();

  RegionFunction function_;
  std::vector<Input> inputs_;
  Surroundings surroundings_;
  std::mutex turn_;  ///< of backwards on several threads, which keep the graph
  std::vector<Activation> saved_;
  OutsideLog outside_;
};

class Region::Packed final : public PackedTensor {
 public:
  Packed(std::shared_ptr<Region> region, std::size_t number)
      : region_(std::move(region)), number_(number) {}
  Tensor unpack() override { return region_->unpack(number_); }

 private:
  std::shared_ptr<Region> region_;
  std::size_t number_;
};

/// Takes what the second run saves.
class Region::Collector final : public SavedTensorHooks {
 public:
  explicit Collector(Region& region) : region_(region) {}
  std::unique_ptr<PackedTensor> pack(const Tensor& tensor) override {
    check(next_ < region_.saved_.size() && region_.saved_[next_].shape == tensor.shape(),
          "checkpoint: the second run saved other tensors than the first; got ", tensor.shape(),
          " as number ", next_, " of ", region_.saved_.size());
    Activation& saved = region_.saved_[next_++];
    if (!saved.kept) {
      saved.made = SavedTensor::as_it_is(tensor.detach());
    }
    return std::make_unique<Nothing>();
  }

 private:
  Region& region_;
  std::size_t next_ = 0;
};

/// The hooks of the first run.
class RegionHooks final : public SavedTensorHooks {
 public:
  RegionHooks(Region& region, std::span<const Tensor> inputs) : region_(region), inputs_(inputs) {}
  std::unique_ptr<PackedTensor> pack(const Tensor& tensor) override {
    return region_.pack(tensor, inputs_);
  }

 private:
  Region& region_;
  std::span<const Tensor> inputs_;
};

std::unique_ptr<PackedTensor> Region::pack(const Tensor& tensor, std::span<const Tensor> inputs) {
  // A leaf costs nothing to keep, and neither does an input, which the region holds anyway: unless
  // an outer region is to make it anew.
  bool kept = tensor.is_leaf() && tensor.requires_grad();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    kept = kept || (tensor.is(inputs[i]) && !inputs_[i].tensor.is_packed());
  }
  saved_.push_back({tensor.shape(), kept, {}});
  return kept ? nullptr : std::make_unique<Packed>(shared_from_this(), saved_.size() - 1);
}

Tensor Region::unpack(std::size_t number) {
  check<Unsupported>(!grad_enabled(),
                     "checkpoint: gradients of gradients are not supported through a checkpoint");
  const std::lock_guard lock(turn_);
  Activation& saved = saved_[number];
  if (!saved.made.defined()) {
    recompute();
  }
  check(saved.made.defined(), "checkpoint: the second run saved fewer tensors than the first; ",
        "number ", number, " of ", saved_.size(), " is missing");
  return std::exchange(saved.made, SavedTensor()).unpack("checkpoint");
}

void Region::recompute() {
  std::vector<Tensor> inputs;
  for (const Input& input : inputs_) {
    Tensor x = input.tensor.unpack("checkpoint");
    inputs.push_back(x.defined() ? x.detach() : x);
    if (input.requires_grad) {
      inputs.back().set_requires_grad(true);
    }
  }
  const SurroundingsScope surroundings(surroundings_);
  Collector collector(*this);
  const SavedTensorHooksScope hooks(collector);
  OutsideReads reads(outside_, true);
  const ModeGuard<&Modes::outside_reads> replay(&reads);
  static_cast<void>(function_(inputs));
}

}  // namespace

std::vector<Tensor> checkpoint(const RegionFunction& function, std::span<const Tensor> inputs) {
  if (!grad_enabled()) {
    return function(inputs);
  }
  const auto region = std::make_shared<Region>(function, inputs);
  RegionHooks hooks(*region, inputs);
  const SavedTensorHooksScope scope(hooks);
  OutsideReads reads(region->outside(), false);
  const ModeGuard<&Modes::outside_reads> noting(&reads);
  return function(inputs);
}

Tensor checkpoint(std::function<Tensor(const Tensor&)> function, const Tensor& input) {
  const auto on_list = [run = std::move(function)](std::span<const Tensor> inputs) {
    return std::vector<Tensor>{run(inputs[0])};
  };
  return std::move(checkpoint(RegionFunction(on_list), std::span(&input, 1))[0]);
}

bool is_recomputing() noexcept {
  return Modes::current().recomputing;
}

}  // namespace tessera
