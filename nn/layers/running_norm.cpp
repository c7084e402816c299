#include <tessera/nn/layers/running_norm.h>

#include <algorithm>

#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/arithmetic.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/python_text.h>

namespace tessera::nn {
namespace {

void move_towards(const Buffer& buffer, const Tensor& value, double factor) {
  const CategoryScope category(MemoryCategory::parameter);
  buffer.assign(buffer.value() * (1 - factor) + value * factor);
}

}  // namespace

RunningNorm::RunningNorm(std::int64_t num_features, const RunningNormOptions& options)
    : num_features_(num_features), options_(options) {
  check<ValueError>(num_features >= 1 || num_features == kInferred,
                    "norm: num_features must be positive; got ", num_features);
  const Shape shape{num_features};
  weight = parameter_if(options.affine, this, "weight", shape, init::ones());
  bias = parameter_if(options.affine && options.bias, this, "bias", shape, init::zeros());
  if (options.track_running_stats) {
    running_mean = Buffer(this, "running_mean", shape, init::zeros());
    running_var = Buffer(this, "running_var", shape, init::ones());
    num_batches_tracked = Buffer(this, "num_batches_tracked", zeros({}, {.dtype = DType::i64}));
  } else {
    running_mean = register_buffer("running_mean", nullptr);
    running_var = register_buffer("running_var", nullptr);
    num_batches_tracked = register_buffer("num_batches_tracked", nullptr);
  }
}

void RunningNorm::infer_sizes(std::int64_t features) {
  num_features_ = features;
  for (const SlotEntryPtr& entry : detail::slot_entries(*this)) {
    if (entry->slot != nullptr && !entry->slot->sized()) {
      entry->slot->shape = {features};
    }
  }
}

void RunningNorm::take_older_state(LoadContext& context) const {
  const Value* version = context.metadata.find("version");
  const std::string name = context.prefix + "num_batches_tracked";
  const bool old = version == nullptr || version->get<std::int64_t>() < 2;
  if (!old || !num_batches_tracked.defined() || context.state.contains(name)) {
    return;
  }
  const Tensor count = num_batches_tracked.slot()->value;
  const bool known = count.defined() && count.device().type != DeviceType::meta;
  context.state.set(
      name, known ? cast(count.detach(), count.dtype(), true) : zeros({}, {.dtype = DType::i64}));
}

/// What is loaded may tell them too.
std::int64_t RunningNorm::num_features() const {
  for (const SlotEntryPtr& entry : detail::slot_entries(*this)) {  // whichever there is
    if (entry->slot != nullptr && entry->slot->shape.size() == 1) {
      return std::max(entry->slot->shape[0], std::int64_t{0});
    }
  }
  return std::max(num_features_, std::int64_t{0});
}

void RunningNorm::track(const Tensor& mean, const Tensor& variance, double factor) const {
  const NoGradGuard no_grad;
  move_towards(running_mean, mean, factor);
  move_towards(running_var, variance, factor);
}

void RunningNorm::check_ndim(const Tensor& x, int least, int most) const {
  const int ndim = unstacked_ndim(x);
  if (ndim < least || ndim > most) {
    const std::string also = least == most ? "" : tessera::detail::concat("D or ", most);
    fail<ValueError>(class_name(), ": wrong number of dims; got a ", ndim, "D input, expected ",
                     least, also, "D");
  }
}

std::string RunningNorm::extra_repr() const {
  const std::string momentum = options_.momentum ? python_text(*options_.momentum) : "None";
  return tessera::detail::concat(
      num_features(), ", eps=", python_text(options_.eps), ", momentum=", momentum,
      ", affine=", python_bool(options_.affine), ", bias=", python_bool(bias.defined()),
      ", track_running_stats=", python_bool(options_.track_running_stats));
}

}  // namespace tessera::nn
