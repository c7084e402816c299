// Several modules of one structure as one, whose tensors have a leading dim.
//
//   const auto models = nn::stack_modules(std::vector<nn::ModulePtr>{a, b, c});
//   Tensor y = nn::ensemble_call(*models, x);   // (3, ...): what a, b and c give
#pragma once

#include <cstdint>
#include <span>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// A module of their class whose parameters and buffers are those of `modules` along a new first
/// dim, in memory of its own. It is trained, saved and moved as any other, called by
/// `ensemble_call`, and printed with the shapes that it has. Throws ValueError for no modules,
/// StructureError, naming the module, where classes, names, ties, settings or shapes differ from
/// the first's.
[[nodiscard]] ModulePtr stack_modules(std::span<const ModulePtr> modules);

/// The number of members. Throws ValueError for a module without state, StructureError where first
/// dims differ.
[[nodiscard]] std::int64_t ensemble_size(const Module& stacked);

/// Member `i`, as a module on the stacked tensors: what it computes has gradients that end in them.
/// Throws InvalidArgument for a number outside [0, size).
[[nodiscard]] ModulePtr ensemble_member(const Module& stacked, std::int64_t i);

enum class EnsembleInput : std::uint8_t {
  shared,  ///< every member is called with x
  each,    ///< member i with x[i]
};

/// What the members give, along a new first dim, one after another; random numbers differ from
/// member to member. Buffers that members assign are put back together. Throws InvalidArgument when
/// x has not one element for each member, and, in a pure call, ValueError when a member assigns.
[[nodiscard]] Tensor ensemble_call(const Module& stacked, const Tensor& x,
                                   EnsembleInput input = EnsembleInput::shared);

}  // namespace tessera::nn
