#include <tessera/nn/value.h>

#include <array>

#include <tessera/core/base/mapped.h>

namespace tessera::nn {
namespace {

constexpr std::array<const char*, 10> kKinds{"nothing", "a bool",   "an integer", "a number",
                                             "a text",  "bytes",    "a tensor",   "a list",
                                             "a map",   "an object"};

}  // namespace

Value::Value() = default;
Value::Value(bool value) : value_(value) {}
Value::Value(std::int64_t value) : value_(value) {}
Value::Value(int value) : value_(std::int64_t{value}) {}
Value::Value(double value) : value_(value) {}
Value::Value(std::string value) : value_(std::move(value)) {}
Value::Value(const char* value) : value_(std::string(value)) {}
Value::Value(Bytes value) : value_(std::move(value)) {}
Value::Value(List value) : value_(std::move(value)) {}
Value::Value(Map value) : value_(std::move(value)) {}
Value::Value(Object value) : value_(std::move(value)) {}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

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

Value map_tensors(const Value& value, const std::function<Tensor(const Tensor&)>& f) {
  if (value.is<Tensor>()) {
    return f(value.tensor());
  }
  if (value.is<Value::List>()) {
    return mapped(value.get<Value::List>(),
                  [&](const Value& part) { return map_tensors(part, f); });
  }
  if (value.is<Value::Map>()) {
    Value::Map map;
    for (const auto& [name, part] : value.get<Value::Map>()) {
      map.set(name, map_tensors(part, f));
    }
    return map;
  }
  return value;
}

void Value::fail_kind(const Value& expected) const {
  fail<TypeError>("value: wrong kind; got ", kind(), ", expected ",
                  expected.empty() ? "a tensor" : expected.kind());
}

}  // namespace tessera::nn
