// Collectives between ranks that share memory: threads of a process or processes of a host.
//
// Three ways, chosen alike on every rank. Small payloads travel inside the posts and every rank
// computes the whole result. Buffers that all ranks can reach are read and written in place: each
// rank reduces its part of everything and writes the sum to all. Private buffers pass through
// double-buffered slots, a piece at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tessera/core/base/inline_vector.h>
#include <tessera/dist/comm/collective.h>
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
class SharedGroup {
 public:
  SharedGroup(ControlBlock block, Membership membership,
              std::shared_ptr<const AddressSpace> addresses);

  Task run(const Collective&);
  Task send(const Collective&);
  Task receive(const Collective&);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const AddressSpace& addresses() const { return *addresses_; }

 private:
  /// Where every rank's contribution to a collective, or to a piece of it, can be read.
  struct Window {
    InlineVector<const std::byte*, 8> bases;  ///< by rank
    std::size_t stride = 0;                   ///< elements from one piece of a rank to its next
  };

  void post(const Collective&);
  [[nodiscard]] Reference sharable_send(const Collective&) const;
  void arrive();
  [[nodiscard]] bool all_at(std::uint64_t phase) const;
  [[nodiscard]] bool all_posted() const;
  void require_agreement() const;
  [[nodiscard]] bool fits_inline(const Collective&) const;
  [[nodiscard]] bool is_direct() const;
  [[nodiscard]] const Descriptor& post_of(int rank) const { return block_.post(rank, posted_); }
  [[nodiscard]] const ReductionTree& tree_of(const Collective& c) const {
    return c.tree == nullptr ? *default_tree_ : *c.tree;
  }

  Task run_direct(const Collective&);
  Task run_staged_pull(const Collective&);
  Task run_staged_all_reduce(const Collective&);
  [[nodiscard]] Window inline_window(const Collective&) const;
  [[nodiscard]] Window direct_window(const Collective&) const;
  [[nodiscard]] Window slot_window(std::uint64_t piece, std::size_t stride) const;
  /// Takes elements [from, from + n) of every piece meant for this rank out of the window, to
  /// element `to` of each received part.
  void pull(const Collective&, const Window&, std::size_t from, std::size_t to,
            std::size_t n) const;
  void pull_reduced(const Collective&, const Window&, std::size_t from, std::byte* out,
                    std::size_t n) const;
  void stage(const Collective&, std::uint64_t piece, std::size_t stride, std::size_t first,
             std::size_t n) const;
  void stage_for_others(const Collective&, std::uint64_t piece, std::size_t stride,
                        std::size_t first, std::size_t n) const;
  void reduce_staged_part(const Collective&, std::uint64_t piece, std::size_t stride,
                          std::size_t first, std::size_t n) const;
  void collect_staged(const Collective&, std::uint64_t piece, std::size_t stride, std::size_t first,
                      std::size_t n) const;

  ControlBlock block_;
  Membership membership_;
  int rank_;
  int size_;
  std::shared_ptr<const AddressSpace> addresses_;
  std::shared_ptr<const ReductionTree> default_tree_;
  std::uint64_t phase_ = 0;
  std::uint64_t posted_ = 0;
};

}  // namespace tessera::dist
