#include <tessera/nn/value.h>

#include <array>

namespace tessera::nn {
namespace {

constexpr std::array<const char*, 10> kKinds{"nothing", "a bool",   "an integer", "a number",
                                             "a text",  "bytes",    "a tensor",   "a list",
                                             "a map",   "an object"};

}  // namespace

Value::Value(Tensor value) {
  if (value.defined()) {
    value_ = std::move(value);
  }
}

Tensor Value::tensor() const {
  return empty() ? Tensor() : get<Tensor>();
}

const char* Value::kind() const {
  return kKinds.at(value_.index());
}

void Value::fail_kind(const Value& expected) const {
  fail<TypeError>("value: wrong kind; got ", kind(), ", expected ",
                  expected.empty() ? "a tensor" : expected.kind());
}

}  // namespace tessera::nn
