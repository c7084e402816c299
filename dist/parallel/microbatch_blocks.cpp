#include <tessera/dist/parallel/microbatch_blocks.h>

#include <algorithm>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>

namespace tessera::dist {

MicrobatchBlocks::MicrobatchBlocks(std::int64_t grain, int ranks, int rank)
    : grain_(grain),
      ranks_(ranks),
      tree_(std::make_shared<ReductionTree>(ReductionTree::over_grain(grain, ranks))),
      own_(tree_->of_rank(rank)) {}

MicrobatchRange MicrobatchBlocks::share_of(int rank) const {
  return share_of_rank(grain_, ranks_, rank);
}

/// Number of the block that holds the pass; the number of blocks if none does.
std::size_t MicrobatchBlocks::find() const {
  const Pass& pass = Context::current().pass;
  const auto found = std::ranges::find_if(own_, [&](const TreeLeaf& block) {
    return pass.grain == grain_ && pass.first >= block.first &&
           pass.first + pass.count <= block.first + block.size;
  });
  return static_cast<std::size_t>(found - own_.begin());
}

std::size_t MicrobatchBlocks::current() const {
  const Pass& pass = Context::current().pass;
  check(
      pass.samples > 0 || pass.grain == grain_,
      "data_parallel: backward outside of a loop over a data::DataLoader, which says what of a "
      "global batch of ",
      grain_,
      " microbatches a rank has; make a loader of the batch, of a data::TensorDataset say, with as "
      "many steps as it is for");
  check(pass.grain == grain_,
        "data_parallel: the loop's microbatches are not data_parallel's; got ", pass.grain,
        " in the loader's global batch, expected ", grain_, " as in DataParallelOptions::grain");
  const std::size_t block = find();
  check(block != own_.size(), "data_parallel: the pass does not fit the rank's microbatches; got ",
        pass.first, " to ", pass.first + pass.count, " of ", pass.grain, ", expected a part of ",
        own_[0].first, " to ", own_.back().first + own_.back().size, " of ", grain_,
        "; the loader was told another rank or number of ranks");
  return block;
}

bool MicrobatchBlocks::is_whole_pass(std::size_t block) const {
  return Context::current().pass.count == own_[block].size;
}

}  // namespace tessera::dist
