#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/image.h>

#include "nn/io/pictures.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using testing::HasSubstr;
using testing_support::error_of;
using testing_support::picture;
using testing_support::write_text;

TEST(Png, every_kind_is_read_as_eight_bits_without_transparency) {
  for (const char* name : {"grey_1", "grey_2", "grey_4", "grey_8", "grey_16", "grey_alpha",
                           "palette_2", "palette_8", "rgb_8", "rgb_16", "rgb_interlaced", "rgba"}) {
    const std::string file = picture(name);
    const bool grey = file_system().kind(file + ".pgm") == FileKind::regular;
    const Tensor expected = read_image(file + (grey ? ".pgm" : ".ppm"));
    const Tensor image = read_image(file + ".png");
    EXPECT_EQ(image.shape(), expected.shape()) << name;
    EXPECT_EQ(image.to_vector<int>(), expected.to_vector<int>()) << name;
  }
}

TEST(Png, a_damaged_file_is_an_error_that_names_it) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder / "x.png";
  const auto error = [&](const std::string& bytes) {
    write_text(path, bytes);
    return error_of<IoError>([&] { static_cast<void>(read_image(path)); });
  };
  const std::string whole = read_file(picture("rgb_interlaced.png"));
  for (std::size_t length = 0; length + 12 < whole.size(); ++length) {  // the last chunk is empty
    EXPECT_THAT(error(whole.substr(0, length)), HasSubstr("x.png'")) << length;
  }
  std::string wide = whole;
  wide[16] = 0x7f;
  EXPECT_THAT(error(wide), HasSubstr("x.png'"));
}

TEST(Png, a_changed_byte_gives_a_picture_or_an_error) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder / "x.png";
  for (const char* name : {"palette_8.png", "rgb_interlaced.png", "grey_16.png"}) {
    const std::string whole = read_file(picture(name));
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << i % 8));
      write_text(path, bytes);
      try {
        EXPECT_EQ(read_image(path).dtype(), DType::u8);
      } catch (const IoError& error) {
        EXPECT_THAT(error.what(), HasSubstr("x.png'"));
      }
    }
  }
}

TEST(Png, more_pixels_than_the_file_can_hold_are_refused) {
  EXPECT_THAT(error_of<IoError>([] { static_cast<void>(read_image(picture("too_large.png"))); }),
              HasSubstr("too_large.png' claims 30000 x 30000 pixels, more than"));
}

}  // namespace
}  // namespace tessera::nn
