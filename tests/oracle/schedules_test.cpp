// Learning rates, step by step, against PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

MATCHER(Near, "is near but for rounding") {
  const double got = std::get<0>(arg), expected = std::get<1>(arg);
  return std::abs(got - expected) <= 1e-12 * std::abs(expected);
}

class Schedules : public testing::TestWithParam<std::string> {};

void expect_near(const Node& record, const Schedule& schedule) {
  const Node& values = record["values"];
  const Attributes& arguments = record["arguments"].attributes;
  const auto got = schedule.run(arguments, values["rates"].values.size(0), values);
  for (const auto& [name, array] : values.children) {
    if (name != "metrics") {
      const auto expected = array.values.to_vector<double>();
      EXPECT_THAT(got.at(name), testing::Pointwise(Near(), expected)) << name;
    }
  }
  EXPECT_THAT(arguments.unread(), testing::IsEmpty());
}

TEST_P(Schedules, give_the_rates_of_pytorch) {
  for (const auto& [name, record] : fixture()["schedules"][GetParam()].children) {
    SCOPED_TRACE(name);
    expect_near(record, Counterparts<Schedule>::all().at(GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, Schedules, testing::ValuesIn(Counterparts<Schedule>::names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tessera::oracle
