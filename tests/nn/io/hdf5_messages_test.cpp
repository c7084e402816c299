// Row K7: what HDF5 says of files that it cannot open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/io/said_of.h"

namespace tessera::nn {
namespace {

using testing::HasSubstr;

TEST(Hdf5Messages, quote_hdf5) {
  EXPECT_EQ(said_of("no HDF5", "a.h5"),
            "load: 'a.h5' is no readable HDF5 file; HDF5 says: file signature not found");
}

TEST(Hdf5Messages, quote_hdf5_only_when_it_says_something) {
  for (const std::string& bytes : {std::string("x"), std::string("PK\x03"), std::string("\x80"),
                                   std::string("\x89HDF\r\n\x1a\n"), std::string(5000, '\0'),
                                   "\x89HDF\r\n\x1a\n" + std::string(600, '\0')}) {
    const std::string said = said_of(bytes, "a.h5");
    EXPECT_THAT(said, HasSubstr("load: 'a.h5' is no readable HDF5 file"));
    EXPECT_THAT(said, testing::Not(HasSubstr("nothing")));
    EXPECT_THAT(said, testing::Not(testing::EndsWith(": ")));
  }
}

}  // namespace
}  // namespace tessera::nn
