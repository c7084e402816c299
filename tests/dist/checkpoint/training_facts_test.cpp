#include <tessera/dist/checkpoint/training_facts.h>

#include <gtest/gtest.h>

#include <tessera/core/base/error.h>

namespace tessera::dist {
namespace {

TEST(TrainingFacts, come_back_from_text) {
  TrainingFacts facts{
      .step = 7,
      .options = {{"--lr", "0.1"}, {"--init", ""}, {"--note", ""}, {"--te\txt", "a\\b\tc\nd\\t"}},
      .loader = {},
      .optimizer = {{"steps", 7.5}},
      .optimizer_tensors = {"first moment/a"},
      .seed = 3,
      .batches = 8,
      .bits = {{"instruction set", "avx2"}, {"matrix products", "own"}},
      .elements = {{{~std::uint64_t{0}, 0}, 384}, {{3, 2}, 0.5}}};
  facts.loader = {.batch_size = 5, .order = "shuffled", .data = {{"hash", ~std::uint64_t{0}}}};
  const TrainingFacts read = facts_from_text(to_text(facts), "file");
  EXPECT_EQ(to_text(read), to_text(facts));
  EXPECT_EQ(read.loader, facts.loader);
  EXPECT_EQ(read.bits, facts.bits);
  EXPECT_EQ(read.elements, facts.elements);
  EXPECT_EQ(read.options, facts.options);
  EXPECT_EQ(read.step, 7);
}

TEST(TrainingFacts, names_the_file_and_the_line_that_means_nothing) {
  try {
    static_cast<void>(facts_from_text("nonsense\n", "step-3/index.h5"));
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("step-3/index.h5"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("nonsense"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::dist
