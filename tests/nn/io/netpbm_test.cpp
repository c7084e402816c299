#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/io/image.h>

#include "nn/io/pictures.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::error_of;
using testing_support::write_text;

class Netpbm : public testing::Test {
 protected:
  Tensor read(const std::string& text, ImageMode mode = ImageMode::unchanged) {
    write_text(path_, text);
    return read_image(path_, mode);
  }
  std::string error(const std::string& text) {
    return error_of<IoError>([&] { static_cast<void>(read(text)); });
  }

  testing_support::TemporaryFolder folder_;
  std::string path_ = folder_ / "x.ppm";
};

TEST_F(Netpbm, grey_and_colour_become_planes) {
  const Tensor grey = read("P5\n3 2\n255\nabcdef");
  EXPECT_EQ(grey.shape(), Shape({1, 2, 3}));
  EXPECT_EQ(grey.dtype(), DType::u8);
  EXPECT_THAT(grey.to_vector<int>(), ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
  const Tensor colour = read("P6 2 1 255 RGBrgb");
  EXPECT_EQ(colour.shape(), Shape({3, 1, 2}));
  EXPECT_THAT(colour.to_vector<int>(), ElementsAre('R', 'r', 'G', 'g', 'B', 'b'));
}

TEST_F(Netpbm, comments_and_any_spaces_part_the_numbers) {
  EXPECT_EQ(read("P5# one\n#two\n\t2\r\n1 # three\n255\n\n\n").to_vector<int>(),
            (std::vector<int>{'\n', '\n'}));
}

TEST_F(Netpbm, other_largest_values_are_scaled) {
  EXPECT_THAT(read(std::string("P5 3 1 2 \x00\x01\x02", 12)).to_vector<int>(),
              ElementsAre(0, 128, 255));
  EXPECT_THAT(read(std::string("P5 2 1 65535 \x80\x00\xff\xff", 17)).to_vector<int>(),
              ElementsAre(128, 255));
}

TEST_F(Netpbm, modes_turn_grey_into_colour_and_back) {
  EXPECT_THAT(read("P5 1 1 255 a", ImageMode::rgb).to_vector<int>(), ElementsAre('a', 'a', 'a'));
  // Pillow's convert("L"): (200, 100, 50) -> 124
  EXPECT_EQ(read("P6 1 1 255 \xc8\x64\x32", ImageMode::grey).item(), 124);
  EXPECT_EQ(read("P6 1 1 255 \xff\xff\xff", ImageMode::grey).item(), 255);
}

TEST_F(Netpbm, what_is_written_is_read_back) {
  for (const std::int64_t channels : {1, 3}) {
    Tensor x = empty({channels, 2, 3}, {.dtype = DType::u8});
    for (int i = 0; i < x.numel(); ++i) {
      x.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(13 * i);
    }
    write_netpbm(path_, x);
    EXPECT_EQ(read_image(path_).to_vector<int>(), x.to_vector<int>());
  }
  EXPECT_THROW(write_netpbm(path_, zeros({1, 2, 2})), InvalidArgument);
  EXPECT_THROW(write_netpbm(path_, zeros({2, 2, 2}, {.dtype = DType::u8})), InvalidArgument);
}

TEST_F(Netpbm, damage_is_an_error_that_names_the_file) {
  EXPECT_THAT(error("P5 3 2 255 abcde"), HasSubstr("x.ppm' is truncated; got 5 bytes of pixels, "
                                                   "expected 6 for 3 x 2"));
  EXPECT_THAT(error("P5 16777216 16777216 255 a"), HasSubstr("is truncated"));
  EXPECT_THAT(error("P6 99999999999999999999 1 255 a"), HasSubstr("the width is no number"));
  EXPECT_THAT(error("P5 1 -1 255 a"), HasSubstr("the height is no number"));
  EXPECT_THAT(error("P5 1 0 255 a"), HasSubstr("the height is no number"));
  EXPECT_THAT(error("P5 1 1 65536 a"), HasSubstr("the largest value is no number from 1 to 65535"));
  EXPECT_THAT(error("P5 1 1 255"), HasSubstr("ends in its header"));
  EXPECT_THAT(error("P5 1 1 255x"), HasSubstr("ends in its header"));
  EXPECT_THAT(error("P5 1"), HasSubstr("the height is no number"));
  EXPECT_THAT(error("P5 # no end"), HasSubstr("the width is no number"));
  for (const char* text : {"", "P", "P5", "P9 1 1 255 a", "GIF89a"}) {
    EXPECT_THAT(error(text), HasSubstr("x.ppm' is no picture of a known format")) << text;
  }
  EXPECT_THAT(error_of<IoError>([&] { static_cast<void>(read_image(folder_ / "none.ppm")); }),
              HasSubstr("none.ppm"));
}

TEST_F(Netpbm, every_prefix_of_a_picture_is_refused) {
  const std::string whole = "P6 # colours\n2 2\n300\n123456789012345678901234";
  EXPECT_EQ(read(whole).numel(), 12);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THAT(error(whole.substr(0, length)), HasSubstr("x.ppm'")) << length;
  }
}

}  // namespace
}  // namespace tessera::nn
