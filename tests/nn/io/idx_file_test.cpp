#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/idx_file.h>

#include "nn/io/pictures.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace tessera::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::error_of;
using testing_support::picture;
using testing_support::write_text;

class IdxFile : public testing::Test {
 protected:
  Tensor read(const std::string& bytes) {
    write_text(path_, bytes);
    return read_idx(path_);
  }
  std::string error(const std::string& bytes) {
    return error_of<IoError>([&] { static_cast<void>(read(bytes)); });
  }

  testing_support::TemporaryFolder folder_;
  std::string path_ = folder_ / "x.idx";
};

/// A string that may hold zeros.
template <std::size_t N>
std::string bytes(const char (&text)[N]) {
  return {text, N - 1};
}

TEST_F(IdxFile, digits_and_their_labels) {
  const Tensor images = read_idx(picture("digits.idx3-ubyte"));
  EXPECT_EQ(images.shape(), Shape({600, 16, 16}));
  EXPECT_EQ(images.dtype(), DType::u8);
  const auto labels = read_idx(picture("digits.idx1-ubyte")).to_vector<int>();
  ASSERT_EQ(labels.size(), 600U);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ASSERT_EQ(labels[i], static_cast<int>(i % 10));
  }
}

TEST_F(IdxFile, elements_of_every_dtype_are_big_endian) {
  const Tensor i16 = read(bytes("\0\0\x0B\2\0\0\0\1\0\0\0\2\x01\x02\xff\xfe"));
  EXPECT_EQ(i16.shape(), Shape({1, 2}));
  EXPECT_THAT(i16.to_vector<int>(), ElementsAre(258, -2));
  EXPECT_THAT(read(bytes("\0\0\x09\1\0\0\0\1\xff")).to_vector<int>(), ElementsAre(-1));
  EXPECT_THAT(read(bytes("\0\0\x0C\1\0\0\0\1\0\1\0\0")).to_vector<int>(), ElementsAre(65536));
  EXPECT_THAT(read(bytes("\0\0\x0D\1\0\0\0\1\x3f\xc0\0\0")).to_vector<double>(), ElementsAre(1.5));
  EXPECT_THAT(read(bytes("\0\0\x0E\1\0\0\0\1\xbf\xf8\0\0\0\0\0\0")).to_vector<double>(),
              ElementsAre(-1.5));
  EXPECT_EQ(read(bytes("\0\0\x08\2\0\0\0\5\0\0\0\0")).shape(), Shape({5, 0}));
  EXPECT_EQ(read(bytes("\0\0\x08\0\7")).item(), 7);
}

TEST_F(IdxFile, what_does_not_fit_is_an_error_that_names_the_file) {
  EXPECT_THAT(error(bytes("\0\0\x08\1\0\0\0\3ab")),
              HasSubstr("x.idx' has 2 bytes of data, which are not those of shape (3,) of u8"));
  EXPECT_THAT(error(bytes("\0\0\x08\1\0\0\0\1ab")), HasSubstr("has 2 bytes of data"));
  EXPECT_THAT(error(bytes("\0\0\x08\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")),
              HasSubstr("has 0 bytes of data"));
  EXPECT_THAT(error(bytes("\0\0\x08\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0")),
              HasSubstr("has 0 bytes of data"));
  EXPECT_THAT(error(bytes("\0\0\x08\x09")), HasSubstr("too many dims; got 9"));
  EXPECT_THAT(error(bytes("\0\0\x08\2\0\0\0\1\0\0")), HasSubstr("ends in its header"));
  for (const std::string& text :
       {bytes(""), bytes("\0\0\x08"), bytes("\1\0\x08\0a"), bytes("\0\0\x0A\0a")}) {
    EXPECT_THAT(error(text), HasSubstr("x.idx' is no IDX file"));
  }
  EXPECT_THROW(static_cast<void>(read_idx(folder_ / "none")), IoError);
}

}  // namespace
}  // namespace tessera::nn
