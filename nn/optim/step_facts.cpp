// What ranks that take a step together must have in common.
#include <cxxabi.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <typeinfo>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/philox.h>
#include <tessera/nn/optim/work.h>

namespace tessera::optim {
namespace {

std::uint64_t bits_of(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

/// With template arguments, which tell Adam from AdamW.
std::string name_of_class(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : type.name();
}

/// The shortest text that is this number alone.
std::string exact_text(double x) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), x).ptr;
  return {text.data(), end};
}

}  // namespace

/// Where this process is one of several that train together, somebody must keep them equal.
void Optimizer::require_kept_equal() const {
  const Context& context = Context::current();
  if (context.world_size == 1) {
    return;
  }
  for (const Item& item : items_) {
    const Tensor& value = item.slot->value;
    const bool kept = item.slot->synchronizer != nullptr || !value.defined() ||
                      !value.requires_grad() || !value.grad().defined();
    check(kept, "optimizer: rank ", context.rank, " of ", context.world_size, " would update ",
          item.slot->name,
          " by its own samples alone, and ranks would train different models; call "
          "dist::data_parallel(model, world.communicator(), {.grain = loader.grain()}) before the "
          "first step, or start the world with WorldOptions{.independent = true} where every rank "
          "trains a model of its own");
  }
}

/// Changes with everything that `step_facts` names.
std::uint64_t Optimizer::step_fingerprint(const std::vector<Work>& work) const {
  std::uint64_t hash = mix(names_, hash_name(typeid(*this).name()));
  hash = mix(hash, bits_of(clip_));
  hash = mix(hash, static_cast<std::uint64_t>(non_finite_));
  hash = mix(hash, static_cast<std::uint64_t>(steps_));
  for (std::size_t group = 0; group < group_count(); ++group) {
    read_options(group, [&](std::string_view name, double value) {
      hash = mix(mix(hash, hash_name(name)), bits_of(value));
    });
  }
  for (const Item& item : items_) {
    hash = mix(hash, mix(item.group, static_cast<std::uint64_t>(item.steps)));
  }
  for (const Work& w : work) {
    hash = mix(hash, static_cast<std::uint64_t>(w.item - items_.data()));
  }
  return hash;
}

nn::Facts Optimizer::step_facts(const std::vector<Work>& work) const {
  nn::Facts facts{{"class", name_of_class(typeid(*this))},
                  {"clip_grad_norm", exact_text(clip_)},
                  {"on_non_finite", non_finite_ == NonFinite::skip ? "skip" : "stop"},
                  {"steps", std::to_string(steps_)}};
  for (std::size_t group = 0; group < group_count(); ++group) {
    read_options(group, [&](std::string_view name, double value) {
      facts.emplace_back(tessera::detail::concat(name, " of group ", group), exact_text(value));
    });
  }
  std::vector<bool> updated(items_.size());
  for (const Work& w : work) {
    updated[static_cast<std::size_t>(w.item - items_.data())] = true;
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    facts.emplace_back(item.slot->name,
                       tessera::detail::concat("group ", item.group, ", ", item.steps, " updates, ",
                                               updated[i] ? "a" : "no", " gradient"));
  }
  return facts;
}

}  // namespace tessera::optim
