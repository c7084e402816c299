#include <tessera/dist/comm/signature.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/validate.h>
#include <tessera/dist/reduce/tree_sum.h>

namespace tessera::dist {
namespace {

// FNV-1a over words: https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
constexpr std::uint64_t kBasis = 0xcbf29ce484222325ULL;

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return (hash ^ word) * 0x100000001b3ULL;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = kBasis;
  for (const char c : text) {
    hash = mix(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

std::uint64_t hash_of(const ReductionTree& tree) {
  std::uint64_t hash = kBasis;
  for (const TreeLeaf& leaf : tree.leaves()) {
    hash = mix(hash, static_cast<std::uint64_t>(leaf.rank));
    hash = mix(hash, static_cast<std::uint64_t>(leaf.first));
    hash = mix(hash, static_cast<std::uint64_t>(leaf.size));
  }
  return hash;
}

bool leaves(const Signature& s) {
  return s.kind == CollectiveKind::barrier && std::strcmp(s.label, kLeave) == 0;
}

/// Some ranks have come to their end while others go on, which is no disagreement about a
/// collective: the text names who left and what the others do.
void require_nobody_left(const Membership& group, std::span<const RankSignature> signatures) {
  std::string gone;
  const RankSignature* stays = nullptr;
  for (const RankSignature& each : signatures) {
    if (leaves(*each.signature)) {
      gone += detail::concat(gone.empty() ? "rank " : ", rank ", group.world_rank(each.rank));
    } else if (stays == nullptr) {
      stays = &each;
    }
  }
  check<Desync>(gone.empty() || stays == nullptr, "desync: ", gone, " of group '", group.name,
                "' came to the end of the program early; expected collective ",
                stays == nullptr ? 0 : stays->signature->sequence, ", ",
                stays == nullptr ? "" : stays->signature->to_string(&group), ", as on rank ",
                stays == nullptr ? 0 : group.world_rank(stays->rank),
                ": all ranks take the same steps");
}

}  // namespace

Signature signature_of(const Collective& c) {
  Signature s;
  s.sequence = c.sequence;
  s.count = c.count;
  s.label_hash = hash_of(c.label);
  s.tree_hash = c.tree == nullptr ? 0 : hash_of(*c.tree);
  for (const std::size_t count : c.counts) {
    s.tree_hash = mix(s.tree_hash, count);
  }
  s.peer = c.kind == CollectiveKind::broadcast ? c.peer : -1;
  s.kind = c.kind;
  s.reduce = is_reduction(c.kind) ? c.reduce : ReduceOp::sum;
  s.dtype = c.kind == CollectiveKind::barrier ? DType::f32 : c.dtype;
  std::memcpy(s.label, c.label.data(), std::min(c.label.size(), sizeof s.label - 1));
  return s;
}

std::uint64_t Signature::digest() const noexcept {
  const std::uint64_t small = static_cast<std::uint64_t>(static_cast<std::uint32_t>(peer)) << 32 |
                              static_cast<std::uint64_t>(kind) << 16 |
                              static_cast<std::uint64_t>(reduce) << 8 |
                              static_cast<std::uint64_t>(dtype);
  return mix(mix(mix(mix(kBasis, count), label_hash), tree_hash), small);
}

bool Signature::matches(const Signature& other) const noexcept {
  return count == other.count && label_hash == other.label_hash && tree_hash == other.tree_hash &&
         peer == other.peer && kind == other.kind && reduce == other.reduce && dtype == other.dtype;
}

std::string Signature::to_string(const Membership* group) const {
  std::string text = dist::to_string(kind);
  if (is_reduction(kind)) {
    text += detail::concat(" (", dist::to_string(reduce), ")");
  }
  if (kind != CollectiveKind::barrier) {
    text += detail::concat(" of ", count, " ", dtype);
  }
  if (peer >= 0) {
    text += detail::concat(" from rank ", group == nullptr ? peer : group->world_rank(peer));
  }
  if (label[0] != '\0') {
    text += detail::concat(" '", label, "'");
  }
  return text;
}

void require_match(const Membership& group, std::span<const RankSignature> signatures) {
  const Signature& expected = *signatures[0].signature;
  std::string differing;
  const Signature* first_other = nullptr;
  for (const auto& [rank, signature] : signatures) {
    if (signature->matches(expected)) {
      continue;
    }
    differing += detail::concat(differing.empty() ? "" : ", ", "rank ", group.world_rank(rank),
                                " launched ", signature->to_string(&group));
    first_other = first_other == nullptr ? signature : first_other;
  }
  if (first_other == nullptr) {
    return;
  }
  require_nobody_left(group, signatures);
  const bool same_text = first_other->to_string(&group) == expected.to_string(&group);
  fail<Desync>("desync: ranks of group '", group.name, "' disagree about collective ",
               expected.sequence, "; got ", differing, ", expected ", expected.to_string(&group),
               " as rank ", group.world_rank(signatures[0].rank), " did",
               same_text
                   ? " (in the tail of the label, in the sizes of parts or in the reduction tree)"
                   : "");
}

void require_pair(const Membership& group, const Collective& receive, const Signature& sent) {
  const bool same = sent.count == receive.count && sent.dtype == receive.dtype &&
                    sent.label_hash == signature_of(receive).label_hash;
  check<Desync>(same, "desync: in group '", group.name, "' rank ", group.world_rank(group.rank),
                " receives ", receive.count, " ", receive.dtype, " '", receive.label,
                "' from rank ", group.world_rank(receive.peer), "; got ", sent.to_string());
}

}  // namespace tessera::dist
