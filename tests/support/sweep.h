// How much of a long sweep a run of the tests takes: a sample, or all of it where
// TESSERA_TEST_FULL=1 is in the environment, as in `tests/run full`. Samples are the same in every
// run, so that a failure repeats; TESSERA_TEST_SEED=N takes others. Scripts ask sweep.py, which
// reads the same two variables.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

namespace tessera::test {

/// Whether sweeps are whole in this run.
inline bool sweeps_are_whole() {
  static const bool whole = [] {
    const char* text = std::getenv("TESSERA_TEST_FULL");
    return text != nullptr && std::string_view(text) == "1";
  }();
  return whole;
}

/// Chooses among samples of sweeps.
inline unsigned sample_seed() {
  static const unsigned seed = [] {
    const char* text = std::getenv("TESSERA_TEST_SEED");
    return text == nullptr ? 0U : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
  }();
  return seed;
}

/// How many of `all` random trials to make: `few` of them in a sample.
inline int trials(int all, int few) {
  return sweeps_are_whole() ? all : std::min(all, few);
}

/// The numbers in [0, all) in their order, or `few` of them; another salt gives others.
inline std::vector<int> sampled(int all, int few, unsigned salt = 0) {
  std::vector<int> numbers(static_cast<std::size_t>(all)), drawn;
  std::iota(numbers.begin(), numbers.end(), 0);
  std::mt19937 random(sample_seed() + salt);
  std::sample(numbers.begin(), numbers.end(), std::back_inserter(drawn), trials(all, few), random);
  return drawn;
}

}  // namespace tessera::test
