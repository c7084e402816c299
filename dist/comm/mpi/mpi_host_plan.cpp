#include <tessera/dist/comm/mpi/mpi_host_plan.h>

#include <algorithm>
#include <map>

namespace tessera::dist::mpi {
namespace {

constexpr int kMixed = -1;

/// Follows the additions and tells those inside one host from the rest.
class Planner {
 public:
  Planner(const ReductionTree& tree, std::span<const int> host_of, int hosts)
      : inner_(tree.leaves().size()) {
    for (const TreeLeaf& leaf : tree.leaves()) {
      host_.push_back(host_of[static_cast<std::size_t>(leaf.rank)]);
    }
    plan_.roots.resize(static_cast<std::size_t>(hosts));
    for (const TreeStep& step : tree.steps()) {
      follow(step);
    }
    if (host(0) != kMixed) {
      close(0);
    }
    number_roots();
  }
  HostPlan take() { return std::move(plan_); }

 private:
  int& host(int leaf) { return host_[static_cast<std::size_t>(leaf)]; }
  std::vector<TreeStep>& inner(int leaf) { return inner_[static_cast<std::size_t>(leaf)]; }

  void follow(const TreeStep& step) {
    if (host(step.into) != kMixed && host(step.into) == host(step.from)) {
      const std::vector<TreeStep>& right = inner(step.from);
      inner(step.into).insert(inner(step.into).end(), right.begin(), right.end());
      inner(step.into).push_back(step);
      return;
    }
    close(step.into);
    close(step.from);
    across_.push_back(step);
  }
  void close(int leaf) {
    if (host(leaf) != kMixed) {
      plan_.roots[static_cast<std::size_t>(host(leaf))].push_back({leaf, inner(leaf)});
      host(leaf) = kMixed;
    }
  }
  void number_roots() {
    std::map<int, int> number;
    for (auto& roots : plan_.roots) {
      std::ranges::sort(roots, {}, &HostRoot::leaf);
      plan_.first_root.push_back(static_cast<int>(number.size()));
      for (const HostRoot& root : roots) {
        number.emplace(root.leaf, static_cast<int>(number.size()));
      }
    }
    for (const TreeStep& step : across_) {
      plan_.steps.push_back({number.at(step.into), number.at(step.from)});
    }
  }

  std::vector<int> host_;
  std::vector<std::vector<TreeStep>> inner_;
  std::vector<TreeStep> across_;
  HostPlan plan_;
};

}  // namespace

bool HostPlan::is_partial(int host) const {
  return std::ranges::any_of(roots[static_cast<std::size_t>(host)],
                             [](const HostRoot& root) { return !root.steps.empty(); });
}

HostPlan plan_for_hosts(const ReductionTree& tree, std::span<const int> host_of, int hosts) {
  return Planner(tree, host_of, hosts).take();
}

}  // namespace tessera::dist::mpi
