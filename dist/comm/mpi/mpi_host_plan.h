// A reduction tree seen from hosts: what each host can add alone, and what is added across them.
#pragma once

#include <span>
#include <vector>

#include <tessera/core/tensor/dtype.h>
#include <tessera/dist/reduce/tree.h>

namespace tessera::dist::mpi {

/// A subtree whose leaves all lie on one host, as large as possible.
struct HostRoot {
  int leaf = 0;                 ///< index of the leaf that holds its sum
  std::vector<TreeStep> steps;  ///< additions inside it, indices of leaves; empty: a leaf itself
};

struct HostPlan {
  std::vector<std::vector<HostRoot>> roots;  ///< by host
  /// Additions across hosts, over the roots of all hosts in order (host by host).
  std::vector<TreeStep> steps;
  std::vector<int> first_root;  ///< by host: number of its first root in that order

  /// Whether the host's roots travel as partial sums of a wider type.
  [[nodiscard]] bool is_partial(int host) const;
};

/// `host_of[rank]` names the host of each rank.
[[nodiscard]] HostPlan plan_for_hosts(const ReductionTree& tree, std::span<const int> host_of,
                                      int hosts);

}  // namespace tessera::dist::mpi
