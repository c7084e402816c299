#include <tessera/core/tensor/factory_draws.h>

#include <utility>

namespace tessera {
namespace {

constinit thread_local std::uint64_t draws = 0;

}  // namespace

FactoryDraws::FactoryDraws() : previous_(std::exchange(draws, 0)) {}

FactoryDraws::~FactoryDraws() {
  draws = previous_;
}

std::uint64_t FactoryDraws::next() {
  return draws++;
}

}  // namespace tessera
