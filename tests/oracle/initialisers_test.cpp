// Initial values against PyTorch's: their spread, and all of them where they follow from the shape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/tensor/factories.h>

#include "oracle/support/counterparts.h"
#include "oracle/support/distribution.h"

namespace tessera::oracle {
namespace {

class Initialisers : public testing::TestWithParam<std::string> {};

void expect_alike(const Node& record, const Initialiser& initialiser) {
  const Attributes& arguments = record["arguments"].attributes;
  const auto sizes = record.attributes.integers("shape");
  const Tensor got = empty(Shape(sizes));
  initialiser.make(arguments)(got, Box::all_of(got.shape()), {.key = 1});
  expect_same_distribution(got, record["begun"]);
  if (record.has("values")) {
    EXPECT_EQ(got.to_vector<double>(), record["values"]["all"].values.to_vector<double>());
  }
  EXPECT_THAT(arguments.unread(), testing::IsEmpty());
}

TEST_P(Initialisers, spread_values_as_in_pytorch) {
  for (const auto& [name, record] : fixture()["initialisers"][GetParam()].children) {
    SCOPED_TRACE(name);
    expect_alike(record, Counterparts<Initialiser>::all().at(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, Initialisers,
                         testing::ValuesIn(Counterparts<Initialiser>::names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tessera::oracle
