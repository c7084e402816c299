// Finding out, before the first step, whether all ranks mean the same run.
#pragma once

#include <cstdint>
#include <string>

#include <tessera/dist/comm/communicator.h>
#include <tessera/nn/module.h>
#include <tessera/nn/ownership.h>

namespace tessera::dist {

using Facts = nn::Facts;

/// Collective. Throws Disagreement on every rank, naming the ranks and the first fact in which they
/// differ with both values, when the ranks' facts are not equal.
void require_agreement(Communicator& comm, const std::string& what, const Facts& facts);

/// A hash of names and values.
[[nodiscard]] std::uint64_t fingerprint_of(const Facts& facts);

/// Name, shape, dtype, whether it is trained, and a hash of the value of every slot of `model`.
[[nodiscard]] Facts facts_of(const nn::Module& model);

}  // namespace tessera::dist
