// Collectives between ranks that share memory: threads of a process or processes of a host.
//
// Three ways, chosen alike on every rank. Small payloads travel inside the descriptors and every
// rank computes the whole result. Buffers that all ranks can reach are read and written in place:
// each rank reduces its part of everything and writes the sum to all. Private buffers pass through
// staging buffers, two a rank, a piece at a time.
#pragma once

#include <algorithm>
#include <memory>

#include <tessera/core/base/inline_vector.h>
#include <tessera/dist/comm/collective.h>
#include <tessera/dist/comm/group_base.h>
#include <tessera/dist/comm/shared/address_space.h>
#include <tessera/dist/comm/shared/control_block.h>
#include <tessera/dist/comm/task.h>
#include <tessera/dist/reduce/tree_sum.h>

namespace tessera::dist {

/// A range of elements, the part of one rank.
struct Part {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Part `index` of `count` elements cut into `parts`, at multiples of 64 elements.
[[nodiscard]] Part part_of(std::size_t count, int parts, int index);

/// One rank's side of the group. Collectives are carried out one at a time, by one thread at a
/// time; the returned coroutines refer to the collective and to the group.
class SharedGroup final : public GroupCore {
 public:
  [[nodiscard]] Addresses addresses() const noexcept override { return addresses_->addresses(); }
  /// The memory of `control` lives as long as `owner`.
  SharedGroup(ControlBlock control, Membership membership,
              std::shared_ptr<const AddressSpace> addresses, std::shared_ptr<const void> owner);

  Task start(const Collective&) override;
  bool must_end_well(const Collective&) override;

 private:
  /// Where every rank's contribution to a collective, or to a piece of it, can be read.
  struct Window {
    InlineVector<const std::byte*, 8> bases;  ///< by rank
    std::size_t stride = 0;                   ///< elements from one piece of a rank to its next
  };

  /// A piece of a collective whose contributions go through staging buffers.
  struct Staged {
    std::uint64_t number = 0;
    std::size_t stride = 0;  ///< elements from one part in a staging buffer to the next
    std::size_t first = 0;   ///< element of the collective
    std::size_t count = 0;

    /// The one behind it of `all` elements.
    [[nodiscard]] Staged next(std::size_t all) const {
      const std::size_t begin = first + count;
      return {number + 1, stride, begin, std::min(stride, all - begin)};
    }
  };

  Task run(const Collective&);
  Task send(const Collective&);
  Task receive(const Collective&);
  void post(const Collective&, bool inlined);
  [[nodiscard]] Reference sharable_send(const Collective&) const;
  void arrive();
  [[nodiscard]] bool all_posted() const;
  bool may_end(const Collective&);
  void require_agreement() const;
  [[nodiscard]] bool fits_inline(const Collective&) const;
  [[nodiscard]] bool is_direct() const;
  [[nodiscard]] const Descriptor& descriptor_of(int rank) const {
    return control_.descriptor(rank, posted_);
  }
  [[nodiscard]] const ReductionTree& tree_of(const Collective& c) const {
    return c.tree == nullptr ? *default_tree_ : *c.tree;
  }

  Task run_direct(const Collective&);
  Task run_staged_pull(const Collective&);
  Task run_staged_all_reduce(const Collective&);
  /// base_of(rank) is where that rank's contribution begins.
  template <class BaseOf>
  [[nodiscard]] Window window_of(std::size_t stride, const BaseOf& base_of) const {
    Window window{{}, stride};
    for (int rank = 0; rank < size_; ++rank) {
      window.bases.push_back(base_of(rank));
    }
    return window;
  }
  /// Takes elements [from, from + n) of every piece meant for this rank out of the window, to
  /// element `to` of each received part.
  void pull(const Collective&, const Window&, std::size_t from, std::size_t to,
            std::size_t n) const;
  void pull_reduced(const Collective&, const Window&, std::size_t from, std::byte* out,
                    std::size_t n) const;
  [[nodiscard]] Staged first_staged(const Collective&) const;
  void stage(const Collective&, const Staged&) const;
  void stage_for_others(const Collective&, const Staged&) const;
  void reduce_staged_part(const Collective&, const Staged&) const;
  void collect_staged(const Collective&, const Staged&) const;

  std::shared_ptr<const void> owner_;
  ControlBlock control_;
  Membership membership_;
  int rank_;
  int size_;
  std::shared_ptr<const AddressSpace> addresses_;
  std::shared_ptr<const ReductionTree> default_tree_;
  std::uint64_t phase_ = 0;
  std::uint64_t posted_ = 0;
};

}  // namespace tessera::dist
