// How often a run drew: what the next model's key follows from, and what a resumed run needs to
// draw on as one that was never stopped.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// How often the current context drew, by what: root models that were initialised, `rand` and
/// `randn`, and, outside of loops, each path. Seed and step, on which all of them depend as well,
/// are not part of it.
using RandomState = std::vector<std::pair<std::string, std::uint64_t>>;

[[nodiscard]] RandomState random_state();
/// Draws go on where `state` was taken. Names that it lacks keep their counts; those that mean
/// nothing here are left alone. Call it behind setting the context's step.
void set_random_state(const RandomState& state);

/// The key of the next root model's initial values. What a loop's body makes is the training
/// step's: the same in each of its passes, on all ranks, and no other model's key depends on how
/// many those are.
[[nodiscard]] std::uint64_t next_model_key();

}  // namespace tessera
