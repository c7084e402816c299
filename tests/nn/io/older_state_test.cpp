// Rows K7 and N1: batch norm's state from before it counted its batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/io/weights.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/sequential.h>

#include "nn/io/safetensors_by_hand.h"
#include "support/simulated_file_system.h"

namespace tessera::nn {
namespace {

using testing::ElementsAre;

void count_three(const BatchNorm1d& norm) {
  norm.num_batches_tracked.assign(full({}, 3, {.dtype = DType::i64}));
}

Ptr<BatchNorm1d> counted() {
  const auto norm = make<BatchNorm1d>(2);
  count_three(*norm);
  return norm;
}

std::int64_t count_of(const Module& norm) {
  return norm.state_dict().tensor("num_batches_tracked").item<std::int64_t>();
}

StateDict without(const StateDict& state, const std::string& name) {
  StateDict rest = state;
  rest.erase(name);
  return rest;
}

TEST(OlderState, a_file_without_a_count_keeps_the_modules_own) {
  SimulatedFileSystem files;
  const FileSystemScope scope(files);
  SafetensorsByHand file;
  for (const char* name : {"0.weight", "0.bias", "0.running_mean", "0.running_var"}) {
    file.add_floats(name, "[2]", {5, 6});
  }
  file.write("a.safetensors");
  const auto model = make<Sequential>();
  count_three(model->add<BatchNorm1d>(2));
  const LoadResult result = load_weights(*model, "a.safetensors");
  EXPECT_TRUE(result.missing_keys.empty() && result.unexpected_keys.empty());
  EXPECT_THAT(model->state_dict().tensor("0.running_var").to_vector<float>(), ElementsAre(5, 6));
  EXPECT_EQ(model->state_dict().tensor("0.num_batches_tracked").item<std::int64_t>(), 3);
}

TEST(OlderState, goes_by_the_version_that_wrote) {
  const auto norm = counted();
  StateDict state = without(make<BatchNorm1d>(2)->state_dict(), "num_batches_tracked");
  EXPECT_THAT(norm->load_state_dict(state, {.strict = false}).missing_keys,
              ElementsAre("num_batches_tracked"));
  state.metadata().set("", Metadata{{"version", std::int64_t{1}}});
  EXPECT_TRUE(norm->load_state_dict(state).missing_keys.empty());
  state.metadata() = {};
  EXPECT_TRUE(norm->load_state_dict(state).missing_keys.empty());
  EXPECT_EQ(count_of(*norm), 3);
  EXPECT_TRUE(norm->clone()->load_state_dict(state, {.assign = true}).missing_keys.empty());
}

TEST(OlderState, nothing_else_may_lack) {
  const auto norm = counted();
  StateDict state = without(norm->state_dict(), "num_batches_tracked");
  state.erase("running_mean");
  state.metadata() = {};
  EXPECT_THAT(norm->load_state_dict(state, {.strict = false}).missing_keys,
              ElementsAre("running_mean"));
  EXPECT_THROW(norm->load_state_dict(state), RuntimeError);
}

TEST(OlderState, a_count_that_is_there_is_taken) {
  StateDict state = counted()->state_dict();
  state.metadata() = {};
  const auto norm = make<BatchNorm1d>(2);
  norm->load_state_dict(state);
  EXPECT_EQ(count_of(*norm), 3);
}

TEST(OlderState, a_norm_without_elements_begins_at_zero) {
  StateDict state = without(counted()->state_dict(), "num_batches_tracked");
  state.metadata() = {};
  const auto norm = make<BatchNorm1d>(2);
  norm->to_empty(Device{DeviceType::meta});
  norm->load_state_dict(state, {.assign = true});
  EXPECT_EQ(count_of(*norm), 0);
}

TEST(OlderState, statistics_that_are_not_kept_need_no_count) {
  const auto norm = make<BatchNorm1d>(2, BatchNormOptions{.track_running_stats = false});
  StateDict state = norm->state_dict();
  state.metadata() = {};
  const LoadResult result = norm->load_state_dict(state);
  EXPECT_TRUE(result.missing_keys.empty() && result.unexpected_keys.empty());
}

}  // namespace
}  // namespace tessera::nn
