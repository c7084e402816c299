#include <tessera/nn/data/data_loader.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include <tessera/core/base/error.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/nn/data/token_windows.h>

#include "support/error_of.h"

namespace tessera::data {
namespace {

using ::testing::HasSubstr;
using testing_support::error_of;

using WindowLoader = DataLoader<TokenWindows>;

/// Windows of tokens 0, 1, 2, ...: a token names its own position.
TokenWindows counting(std::int64_t n, TokenWindowsOptions options = {.context = 3}) {
  std::vector<std::uint16_t> tokens;
  for (std::int64_t i = 0; i < n; ++i) {
    tokens.push_back(static_cast<std::uint16_t>(i));
  }
  return TokenWindows(TokenSequence(std::move(tokens)), options);
}

/// One stream of shuffled windows.
LoaderOptions shuffled(LoaderOptions options) {
  options.shuffle = true;
  options.join_epochs = true;
  return options;
}

/// A sample as the loader gave it: its place in the global batch, and the number of its window.
struct Seen {
  std::uint64_t step;
  std::int64_t sample;
  std::int64_t window;
  auto operator<=>(const Seen&) const = default;
};

/// What one rank sees; also checks that samples are whole windows.
std::vector<Seen> run(WindowLoader& loader) {
  std::vector<Seen> seen;
  for (auto& [x, y] : loader) {
    const Context& context = Context::current();
    const std::int64_t length = loader.dataset().context();
    EXPECT_EQ(x.size(0), context.pass.samples);
    EXPECT_EQ(x.microbatches(), y.microbatches());
    EXPECT_EQ(x.microbatches().count, context.pass.count);
    const bool first = seen.empty();  // of a loop
    const bool stands_for_more = loader.grain() > 1 && loader.options().at_once == 0;
    EXPECT_EQ(static_cast<bool>(x.microbatches()),
              context.pass.count > 1 || (first && stands_for_more));
    const auto inputs = x.to_vector<std::int64_t>();
    const auto targets = y.to_vector<std::int64_t>();
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      const auto start = static_cast<std::size_t>(i * length);
      EXPECT_EQ(inputs[start] % length, 0);
      for (std::size_t t = 0; t < static_cast<std::size_t>(length); ++t) {
        EXPECT_EQ(inputs[start + t], inputs[start] + static_cast<std::int64_t>(t));
        EXPECT_EQ(targets[start + t], inputs[start + t] + 1);
      }
      seen.push_back({context.step, context.pass.first_sample + i, inputs[start] / length});
    }
  }
  return seen;
}

/// What all ranks see together, in order.
std::vector<Seen> run_ranks(LoaderOptions options, int ranks) {
  std::vector<Seen> all;
  for (int rank = 0; rank < ranks; ++rank) {
    options.rank = rank;
    options.ranks = ranks;
    WindowLoader loader(counting(100), options);
    const auto seen = run(loader);
    all.insert(all.end(), seen.begin(), seen.end());
  }
  std::ranges::sort(all);
  return all;
}

TEST(DataLoader, sequential_order_is_a_plain_loop) {
  const auto seen = run_ranks({.batch_size = 8, .join_epochs = true, .steps = 6}, 1);
  ASSERT_EQ(seen.size(), 48U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i].step, i / 8 + 1);
    EXPECT_EQ(seen[i].sample, static_cast<std::int64_t>(i % 8));
    EXPECT_EQ(seen[i].window, static_cast<std::int64_t>(i % 33));  // 99 / 3 whole windows
  }
}

TEST(DataLoader, any_number_of_ranks_and_passes_sees_the_same_samples) {
  for (const bool shuffle : {false, true}) {
    LoaderOptions options{
        .batch_size = 16, .shuffle = shuffle, .join_epochs = true, .steps = 5, .grain = 8};
    const auto alone = run_ranks(options, 1);
    EXPECT_EQ(alone.size(), 80U);
    for (int ranks = 1; ranks <= 8; ++ranks) {
      for (const std::int64_t at_once : {0, 1, 2, 3}) {
        options.at_once = at_once;
        EXPECT_EQ(run_ranks(options, ranks), alone) << ranks << " ranks, " << at_once;
      }
    }
  }
}

TEST(DataLoader, each_epoch_has_every_window_in_an_order_of_its_own) {
  const auto seen =
      run_ranks(shuffled({.batch_size = 11, .steps = 6, .seed = 0}), 1);  // two epochs of 33
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    (i < 33 ? first : second).push_back(seen[i].window);
  }
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 33U);
  EXPECT_EQ(std::set(second.begin(), second.end()).size(), 33U);
  EXPECT_NE(first, second);
  const auto other = run_ranks(shuffled({.batch_size = 11, .steps = 6, .seed = 1}), 1);
  EXPECT_NE(other, seen);
}

TEST(DataLoader, passes_are_aligned_and_the_last_is_marked) {
  WindowLoader loader(
      counting(100),
      shuffled({.batch_size = 8, .steps = 2, .grain = 8, .at_once = 2, .rank = 0, .ranks = 1}));
  std::vector<bool> last;
  for ([[maybe_unused]] auto& batch : loader) {
    const Pass& pass = Context::current().pass;
    EXPECT_EQ(pass.count, 2);
    EXPECT_EQ(pass.first % 2, 0);
    EXPECT_EQ(loader.position(), pass.last ? Context::current().step : Context::current().step - 1);
    last.push_back(pass.last);
  }
  EXPECT_EQ(last, (std::vector<bool>{false, false, false, true, false, false, false, true}));
  EXPECT_EQ(Context::current().pass.samples, 0);  // as before the loop
}

TEST(DataLoader, resumes_exactly_on_other_ranks) {
  LoaderOptions options = shuffled({.batch_size = 16, .steps = 9, .grain = 8});
  const auto whole = run_ranks(options, 1);
  options.steps = 4;
  WindowLoader before(counting(100), options);
  auto joined = run(before);
  options.steps = 9;
  for (int rank = 0; rank < 3; ++rank) {
    options.rank = rank;
    options.ranks = 3;
    WindowLoader after(counting(100), options);
    after.load_state(before.state());
    const auto rest = run(after);
    joined.insert(joined.end(), rest.begin(), rest.end());
  }
  std::ranges::sort(joined);
  EXPECT_EQ(joined, whole);
}

TEST(DataLoader, goes_back_inside_a_run) {
  WindowLoader loader(counting(100), shuffled({.batch_size = 4, .steps = 5}));
  const LoaderState start = loader.state();
  for ([[maybe_unused]] auto& batch : loader) {
    if (loader.position() == 2) {
      break;
    }
  }
  EXPECT_EQ(loader.position(), 2);
  loader.load_state(start);
  EXPECT_EQ(run(loader).size(), 20U);
}

TEST(DataLoader, evaluation_leaves_the_step_alone) {
  Context::current().step = 17;
  WindowLoader loader(counting(100), {.batch_size = 4, .steps = 2, .counts_steps = false});
  for ([[maybe_unused]] auto& batch : loader) {
    EXPECT_EQ(Context::current().step, 17U);
  }
}

TEST(DataLoader, refuses_what_cannot_be_meant) {
  const auto making = [](std::int64_t tokens, const TokenWindowsOptions& windows,
                         const LoaderOptions& options = {}) {
    return error_of<InvalidArgument>(
        [&] { const WindowLoader loader(counting(tokens, windows), options); });
  };
  EXPECT_EQ(making(9, {.context = 8}), "no error");
  EXPECT_THAT(
      making(8, {.context = 8}),
      HasSubstr("got 8 tokens, expected more than the context of 8, or a context of at most "
                "7"));
  EXPECT_THAT(making(0, {.context = 8}),
              HasSubstr("got 0 tokens, expected more than the context of 8"));
  EXPECT_THAT(making(20, {.context = 8, .vocab = 10}), HasSubstr("token 10 at position 10"));
  EXPECT_THAT(making(20, {.context = 8}, {.batch_size = 6, .grain = 4}), HasSubstr("batch 4 or 8"));
  EXPECT_THAT(making(20, {.context = 8}, {.batch_size = 2, .rank = 0, .ranks = 3}),
              HasSubstr("grain 4 (which needs batch 4)"));
  EXPECT_THAT(making(20, {}, {.batch_size = 0}), HasSubstr("the batch is empty"));
  EXPECT_THAT(making(20, {}, {.batch_size = std::int64_t{1} << 62, .join_epochs = true}),
              HasSubstr("got 4611686018427387904 samples, expected at most 1048576"));
  EXPECT_THAT(making(20, {}, {.workers = -1}), HasSubstr("workers is negative; got -1"));
  EXPECT_THAT(making(20, {}, {.drop_last = true, .join_epochs = true}), HasSubstr("exclude"));
  EXPECT_THAT(making(20, {}, {.batch_size = 20, .drop_last = true}),
              HasSubstr("got 19 samples, expected at least 20"));
  EXPECT_THAT(making(20, {}, {.batch_size = 16, .grain = 2}),
              HasSubstr("got 3 samples and grain 2, expected grain 1, drop_last or join_epochs"));
}

TEST(DataLoader, refuses_the_state_of_another_run) {
  WindowLoader loader(counting(100), {.batch_size = 8, .drop_last = true});
  const auto loading = [&](const TokenWindows& windows, const LoaderOptions& options) {
    return error_of<InvalidArgument>(
        [&] { loader.load_state(WindowLoader(windows, options).state()); });
  };
  EXPECT_THAT(loading(counting(100), {.batch_size = 4, .drop_last = true}),
              HasSubstr("batch size differs from the saved one; got 8, expected 4"));
  EXPECT_THAT(loading(counting(101), {.batch_size = 8, .drop_last = true}),
              HasSubstr("length of the data differs from the saved one; got 100, expected 101"));
  EXPECT_THAT(loading(counting(100, {.context = 2}), {.batch_size = 8, .drop_last = true}),
              HasSubstr("context of the data differs from the saved one; got 3, expected 2"));
  EXPECT_THAT(loading(counting(100), {.batch_size = 8, .join_epochs = true}),
              HasSubstr("got sequential, last batch dropped, expected sequential, epochs joined"));
}

TEST(DataLoader, hands_out_one_microbatch_a_pass_once_a_module_mixes_samples) {
  const auto context = std::make_shared<Context>();
  const ContextScope scope(context);
  WindowLoader loader(counting(100), shuffled({.batch_size = 4, .steps = 2, .grain = 4}));
  context->mixes_samples = true;  // after the loader was made
  int passes = 0;
  for (auto& [x, y] : loader) {
    EXPECT_EQ(x.size(0), 1);
    EXPECT_FALSE(x.microbatches());
    ++passes;
  }
  EXPECT_EQ(passes, 8);
}

TEST(DataLoader, every_pass_begins_its_random_numbers_anew) {
  WindowLoader loader(counting(100), {.batch_size = 2,
                                      .drop_last = true,
                                      .steps = 2,
                                      .grain = 2,
                                      .at_once = 1,
                                      .counts_steps = false});
  std::vector<std::pair<std::uint64_t, std::uint64_t>> keys;
  for ([[maybe_unused]] auto& batch : loader) {
    const std::uint64_t first = next_random_key();
    keys.emplace_back(first, next_random_key());
  }
  ASSERT_EQ(keys.size(), 4U);
  EXPECT_NE(keys[0].first, keys[0].second);
  EXPECT_EQ(keys[0], keys[1]);  // the same batch, so the same draws
  EXPECT_NE(keys[0], keys[2]);
}

}  // namespace
}  // namespace tessera::data
