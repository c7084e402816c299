#include <tessera/nn/state/arguments.h>

#include <span>
#include <vector>

namespace tessera::nn::detail {
namespace {

/// One number by itself, several as a list.
template <class Numbers>
Value numbers_value(const Numbers& numbers, bool single) {
  Value::List list;
  for (const auto number : numbers) {
    list.emplace_back(number);
  }
  return single ? list.at(0) : Value(std::move(list));
}

template <class T>
std::vector<T> numbers_of(const Value& value) {
  std::vector<T> numbers;
  for (const Value& number : value.get<Value::List>()) {
    numbers.push_back(number.get<T>());
  }
  return numbers;
}

}  // namespace

Value to_value(const Dims& numbers) {
  return numbers_value(numbers, false);
}

Value to_value(const PerDim& numbers) {
  return numbers_value(numbers.numbers(), numbers.single());
}

Value to_value(const ConvPadding& padding) {
  return padding.name().empty() ? to_value(padding.numbers()) : Value(padding.name());
}

Value to_value(const ScaleFactor& factors) {
  return numbers_value(factors.factors(), factors.single());
}

template <>
Dims from_value<Dims>(const Value& value) {
  return Dims(std::span<const std::int64_t>(numbers_of<std::int64_t>(value)));
}

template <>
PerDim from_value<PerDim>(const Value& value) {
  return value.is<std::int64_t>() ? PerDim(value.get<std::int64_t>())
                                  : PerDim(from_value<Dims>(value));
}

template <>
ConvPadding from_value<ConvPadding>(const Value& value) {
  if (value.is<std::string>()) {
    return value.get<std::string>().c_str();
  }
  const auto numbers = from_value<PerDim>(value);
  return numbers.single() ? ConvPadding(numbers.numbers()[0]) : ConvPadding(numbers.numbers());
}

template <>
ScaleFactor from_value<ScaleFactor>(const Value& value) {
  return value.is<double>() ? ScaleFactor(value.get<double>())
                            : ScaleFactor(numbers_of<double>(value));
}

std::int64_t whole_number(const Value& value, std::int64_t least, std::int64_t most) {
  const auto number = value.get<std::int64_t>();
  check<ValueError>(number >= least && number <= most, "number out of range; got ", number,
                    ", expected one in [", least, ", ", most, "]");
  return number;
}

void check_fields(const Value::Map& fields, std::size_t known) {
  check<ValueError>(fields.size() == known, "unknown options; got ", fields.size(), ", expected ",
                    known);
}

}  // namespace tessera::nn::detail
