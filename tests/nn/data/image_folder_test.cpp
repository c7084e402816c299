#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/image_folder.h>

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace tessera::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing_support::error_of;

/// A picture of one colour.
void paint(const std::string& path, int value, std::int64_t channels = 1, std::int64_t side = 2) {
  make_directories(parent_path(path));
  nn::write_netpbm(path, full({channels, side, side}, value, {.dtype = DType::u8}));
}

TEST(ImageFolder, a_folder_is_a_class_and_files_are_sorted) {
  const testing_support::TemporaryFolder folder;
  paint(folder / "root/dog/2.pgm", 12);
  paint(folder / "root/dog/10.PGM", 11);
  paint(folder / "root/cat/deep/er.ppm", 13, 3);
  paint(folder / "root/cat/a.pgm", 14);
  paint(folder / "root/stray.pgm", 15);
  write_file(folder / "root/cat/notes.txt", {});
  ASSERT_EQ(::symlink((folder / "root/stray.pgm").c_str(), (folder / "root/dog/link.pgm").c_str()),
            0);
  const ImageFolder images(folder / "root");
  EXPECT_THAT(images.classes(), ElementsAre("cat", "dog"));
  EXPECT_THAT(images.class_to_idx(), ElementsAre(Pair("cat", 0), Pair("dog", 1)));
  EXPECT_THAT(images.targets(), ElementsAre(0, 0, 1, 1, 1));
  EXPECT_THAT(images.paths(), ElementsAre("cat/a.pgm", "cat/deep/er.ppm", "dog/10.PGM", "dog/2.pgm",
                                          "dog/link.pgm"));
  std::vector<int> values;
  for (std::int64_t i = 0; i < images.size(); ++i) {
    const auto [image, target] = images.get(i);
    EXPECT_EQ(image.shape(), Shape({3, 2, 2}));
    EXPECT_EQ(target, images.targets()[static_cast<std::size_t>(i)]);
    values.push_back(image.to_vector<int>()[0]);
  }
  EXPECT_THAT(values, ElementsAre(14, 13, 11, 12, 15));
  EXPECT_THROW(static_cast<void>(images.get(5)), InvalidArgument);
}

TEST(ImageFolder, mode_decides_on_channels) {
  const testing_support::TemporaryFolder folder;
  paint(folder / "a/x.pgm", 7);
  const ImageFolder images(folder.path(), {.mode = nn::ImageMode::grey});
  EXPECT_EQ(images.get(0).first.shape(), Shape({1, 2, 2}));
}

TEST(ImageFolder, a_loader_makes_batches_of_pictures_and_classes) {
  const testing_support::TemporaryFolder folder;
  for (int i = 0; i < 8; ++i) {
    paint(folder / (i % 2 == 0 ? "even/" : "odd/") + std::to_string(i) + ".pgm", i);
  }
  const ImageFolder images(folder.path());
  DataLoader loader(images, {.batch_size = 4, .shuffle = true, .workers = 2});
  for (auto& [x, y] : loader) {
    ASSERT_EQ(x.shape(), Shape({4, 3, 2, 2}));
    const auto pixels = x.to_vector<int>();
    const auto classes = y.to_vector<int>();
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(pixels[i * 12] % 2, classes[i]);
    }
  }
}

TEST(ImageFolder, says_what_is_missing_or_damaged) {
  const testing_support::TemporaryFolder folder;
  const auto opening = [&](const std::string& name) {
    return [path = folder / name] { const ImageFolder images(path); };
  };
  EXPECT_THAT(error_of<IoError>(opening("nowhere")), HasSubstr("there is no folder"));
  make_directories(folder / "bare");
  EXPECT_THAT(error_of<InvalidArgument>(opening("bare")), HasSubstr("holds no folders"));
  make_directories(folder / "bare/hollow");
  EXPECT_THAT(error_of<InvalidArgument>(opening("bare")),
              HasSubstr("hollow' holds no file that ends in .png"));
  paint(folder / "good/a/1.pgm", 1);
  write_file(folder / "good/a/2.pgm", {});
  DataLoader loader(ImageFolder(folder / "good"), {.batch_size = 1});
  auto batch = loader.begin();
  EXPECT_EQ((*batch).second.item(), 0);
  const std::string message = error_of<IoError>([&] { ++batch; });
  EXPECT_THAT(message, HasSubstr("2.pgm' is no picture of a known format"));
  EXPECT_THAT(message, HasSubstr("(sample 1 of the data set)"));
}

}  // namespace
}  // namespace tessera::data
