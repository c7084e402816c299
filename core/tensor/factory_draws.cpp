#include <tessera/core/tensor/factory_draws.h>

#include <atomic>

#include <tessera/core/base/context.h>

namespace tessera {
namespace {

/// Threads may share a context.
std::atomic_ref<std::uint64_t> draws() {
  return std::atomic_ref(Context::current().factory_draws);
}

}  // namespace

FactoryDraws::FactoryDraws(std::uint64_t first) : previous_(draws().exchange(first)) {}

FactoryDraws::~FactoryDraws() {
  draws().store(previous_);
}

std::uint64_t FactoryDraws::next() {
  return draws()++;
}

std::uint64_t FactoryDraws::made() {
  return draws().load();
}

}  // namespace tessera
