// Parameters in buckets as the parts of data parallel see them, without a reducer.
#pragma once

#include <vector>

#include <tessera/core/tensor/factories.h>
#include <tessera/dist/parallel/bucket_layout.h>
#include <tessera/dist/parallel/microbatch_blocks.h>
#include <tessera/dist/parallel/reduced_parameter.h>
#include <tessera/nn/module.h>

#include "support/toy_model.h"

namespace tessera::dist {

struct SixParameters : nn::Module {
  nn::Parameter a{this, "a", {20}, toy::fill_uniform};
  nn::Parameter b{this, "b", {20}, toy::fill_uniform};
  nn::Parameter c{this, "c", {20}, toy::fill_uniform};
  nn::Parameter d{this, "d", {20}, toy::fill_uniform};
  nn::Parameter e{this, "e", {20}, toy::fill_uniform};
  nn::Parameter f{this, "f", {20}, toy::fill_uniform};
};

/// On rank `rank` of a power of two of `ranks`, each with one microbatch: f and e in the first
/// bucket, d and c in the second one, b and a in the last.
struct SixReduced {
  explicit SixReduced(int ranks = 1, int rank = 0) : blocks(ranks, ranks, rank) {
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      for (const BucketEntry& entry : buckets[b].entries) {
        parameters.push_back({.entry = entry,
                              .bucket = b,
                              .name = entry.slot->name,
                              .value = entry.slot->value,
                              .sums = MicrobatchSums(blocks, {zeros(entry.slot->shape)})});
      }
    }
  }
  SixReduced(const SixReduced&) = delete;
  SixReduced& operator=(const SixReduced&) = delete;

  MicrobatchBlocks blocks;
  nn::Ptr<SixParameters> model = nn::make<SixParameters>();
  std::vector<Bucket> buckets = make_buckets(model->parameters(), {.bytes = 200});
  std::vector<ReducedParameter> parameters;
};

}  // namespace tessera::dist
