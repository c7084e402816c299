// Finding out, before the first step, whether all ranks mean the same run.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tessera/dist/comm/communicator.h>
#include <tessera/nn/module.h>

namespace tessera::dist {

/// Named facts that must be equal on all ranks.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Collective. Throws Disagreement on every rank, naming the ranks and the first fact in which they
/// differ with both values, when the ranks' facts are not equal.
void require_agreement(Communicator& comm, const std::string& what, const Facts& facts);

/// Name, shape, dtype and a hash of the value of every slot of `model`.
[[nodiscard]] Facts facts_of(const nn::Module& model);

}  // namespace tessera::dist
