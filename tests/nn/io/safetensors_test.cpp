#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/safetensors.h>

#include "support/error_of.h"
#include "support/simulated_file_system.h"

namespace tessera::nn {
namespace {

using testing::HasSubstr;

class Safetensors : public testing::Test {
 protected:
  /// A file of that header and `data` bytes after it; `length` stands in its length field.
  static void write(const std::string& header, std::size_t data, std::uint64_t length) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    bytes += header + std::string(data, '\1');
    write_file("a", std::as_bytes(std::span(bytes)));
  }
  static std::string error_of(const std::string& header, std::size_t data) {
    write(header, data, header.size());
    return open_error();
  }
  static std::string open_error() {
    return testing_support::error_of<IoError>([] { return open_safetensors("a"); });
  }
  static std::string entry(const std::string& name, const std::string& dtype,
                           const std::string& shape, const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  }

  SimulatedFileSystem files_;
  FileSystemScope scope_{files_};
};

TEST_F(Safetensors, GivesBackWhatWasWritten) {
  std::vector<std::vector<std::byte>> storage;
  ArrayFileContents contents;
  for (int i = 0; i < kDTypeCount - 1; ++i) {  // all but c128
    const auto dtype = static_cast<DType>(i);
    const Shape shape = i == 0 ? Shape{} : i == 1 ? Shape{0, 3} : Shape{2, i};
    const std::size_t size = static_cast<std::size_t>(numel_of(shape)) * size_of(dtype);
    storage.emplace_back(size, static_cast<std::byte>(i));
    contents.arrays.push_back(
        {"a." + std::to_string(i) + "\"\\", dtype, shape, storage.back().data()});
  }
  const std::size_t arrays = contents.arrays.size();
  contents.arrays.push_back(alias_of(contents.arrays[2].path, "tied"));
  contents.attributes = {{"", "format", std::string("pt\n\u00fc")}};
  write_safetensors("a", contents);
  const auto reader = open_safetensors("a");
  ASSERT_EQ(reader->arrays().size(), arrays);
  for (std::size_t i = 0; i < arrays; ++i) {
    const ArrayInfo* info = reader->find(contents.arrays[i].path);
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(info->dtype, contents.arrays[i].dtype);
    EXPECT_EQ(info->shape, contents.arrays[i].shape);
    std::vector<std::byte> bytes(info->nbytes());
    reader->read(info->path, bytes);
    EXPECT_EQ(bytes, storage[i]);
  }
  const auto attributes = reader->attributes();
  EXPECT_EQ(*find_attribute<std::string>(attributes, "", "format"), "pt\n\u00fc");
  EXPECT_EQ(*find_attribute<std::string>(attributes, "", "tied"), "a.2\"\\");
}

TEST_F(Safetensors, ReadsAFileMadeByHand) {
  EXPECT_EQ(error_of(" { \"__metadata__\" : {\"k\":\"\\u00e9\\ud83d\\ude00\"} , " +
                         entry("x", "I16", "[ 3 ]", "[ 0 , 6 ]") + " } ",
                     6),
            "no error");
  const auto reader = open_safetensors("a");
  std::vector<std::int16_t> values(3);
  reader->read("x", std::as_writable_bytes(std::span(values)));
  EXPECT_THAT(values, testing::Each(0x0101));
  EXPECT_EQ(*find_attribute<std::string>(reader->attributes(), "", "k"), "\u00e9\U0001f600");
}

TEST_F(Safetensors, RefusesBadLengths) {
  write("{}", 0, std::uint64_t{1} << 60);
  EXPECT_THAT(open_error(), HasSubstr("its header would have 1152921504606846976 bytes"));
  write("{}", 0, 3);
  EXPECT_THAT(open_error(), HasSubstr("'a' is truncated or no safetensors file"));
  const std::string tiny = "short";
  write_file("a", std::as_bytes(std::span(tiny)));
  EXPECT_THAT(open_error(), HasSubstr("it has 5 bytes"));
}

TEST_F(Safetensors, NamesWhatIsWrong) {
  const std::string good = entry("x", "F32", "[1]", "[0,4]");
  EXPECT_THAT(error_of("{" + good + "," + good + "}", 4), HasSubstr("'x' is there twice"));
  EXPECT_THAT(error_of("{" + good + "," + entry("y", "F32", "[1]", "[2,6]") + "}", 6),
              HasSubstr("'y' begins at byte 2 of the data; expected 4"));
  EXPECT_THAT(error_of("{" + good + "}", 5), HasSubstr("has 5 bytes of data; its header names 4"));
  EXPECT_THAT(error_of("{" + good + "}", 3), HasSubstr("'x' ends at byte 4 of the data"));
  EXPECT_THAT(error_of("{" + entry("x", "F32", "[2]", "[0,4]") + "}", 4),
              HasSubstr("'x' has data_offsets that do not fit its shape"));
  EXPECT_THAT(error_of("{" + entry("x", "F32", "[4611686018427387904,4]", "[0,0]") + "}", 0),
              HasSubstr("do not fit its shape"));
  EXPECT_THAT(error_of("{" + entry("x", "F32", "[1]", "[4,0]") + "}", 4),
              HasSubstr("'x' has bad data_offsets"));
  EXPECT_THAT(error_of("{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4),
              HasSubstr("'x' lacks dtype, shape or data_offsets"));
  for (const char* text : {"", "[]", "{", "{\"x\"}", "{\"x\":{\"shape\":[-1]}}", "{} x",
                           "{\"x\":{\"shape\":[1.5]}}", "{\"\\ud800\":{}}", "{\"\\x\":{}}"}) {
    EXPECT_THAT(error_of(text, 0), HasSubstr("load: 'a': the header is not as it should be"))
        << text;
  }
}

}  // namespace
}  // namespace tessera::nn
