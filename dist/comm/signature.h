// What ranks must agree on when they launch a collective, in a form that can be sent to a peer.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tessera/dist/comm/collective.h>
#include <tessera/dist/comm/membership.h>

namespace tessera::dist {

/// Label of the barrier in which a rank waits that has come to the end of its program.
inline constexpr const char* kLeave = "end";

/// Plain data. Two ranks' collectives match when their signatures do.
struct Signature {
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t label_hash = 0;
  std::uint64_t tree_hash = 0;
  std::int32_t peer = -1;  ///< the root of a broadcast, else -1
  CollectiveKind kind = CollectiveKind::barrier;
  ReduceOp reduce = ReduceOp::sum;
  DType dtype = DType::f32;
  char label[49] = {};  ///< its beginning, for messages

  /// Equal for signatures that match, different, but for odds of 2^-64, for others.
  [[nodiscard]] std::uint64_t digest() const noexcept;
  [[nodiscard]] bool matches(const Signature& other) const noexcept;
  /// "all_reduce of 1024 f32 'bucket 3'"; a root's rank as the world counts it, if `group` is
  /// given.
  [[nodiscard]] std::string to_string(const Membership* group = nullptr) const;
};

[[nodiscard]] Signature signature_of(const Collective&);

/// One rank's signature, as found by a peer.
struct RankSignature {
  int rank = 0;
  const Signature* signature = nullptr;
};

/// Throws Desync, naming the ranks and the difference, unless all signatures match.
void require_match(const Membership& group, std::span<const RankSignature> signatures);

/// Throws Desync unless `sent` is what `receive` waits for.
void require_pair(const Membership& group, const Collective& receive, const Signature& sent);

}  // namespace tessera::dist
