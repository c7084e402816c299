#include <tessera/nn/state/arguments.h>

#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/per_dim.h>
#include <tessera/nn/layers/upsample.h>

namespace tessera::nn::detail {

std::size_t place_of(const Value& text, std::span<const std::string_view> names) {
  const auto& name = text.get<std::string>();
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  std::string known;
  for (const std::string_view other : names) {
    known += known.empty() ? "" : ", ";
    known += other;
  }
  fail<ValueError>("unknown name; got \"", name, "\", expected one of ", known);
}

void check_fields(const Value::Map& fields, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    check<ValueError>(fields.contains(name), "\"", name, "\" is missing");
  }
  for (const auto& [name, value] : fields) {
    const bool known = std::ranges::find(names, name) != names.end();
    check<ValueError>(known, "no \"", name, "\" is known");
  }
}

const Value::List& list_of(const Value& value, std::size_t count) {
  const auto& list = value.get<Value::List>();
  check<ValueError>(list.size() == count, "wrong number of arguments; got ", list.size(),
                    ", expected ", count);
  return list;
}

Value Argument<Dims>::write(const Dims& x) {
  return Argument<std::vector<std::int64_t>>::write({x.begin(), x.end()});
}

Dims Argument<Dims>::read(const Value& value) {
  return Dims(Argument<std::vector<std::int64_t>>::read(value));
}

Value Argument<PerDim>::write(const PerDim& x) {
  return x.single() ? Value(x.numbers()[0]) : Argument<Dims>::write(x.numbers());
}

PerDim Argument<PerDim>::read(const Value& value) {
  return value.is<std::int64_t>() ? PerDim(value.get<std::int64_t>())
                                  : PerDim(Argument<Dims>::read(value));
}

Value Argument<ConvPadding>::write(const ConvPadding& x) {
  return x.name().empty() ? Argument<PerDim>::write(x.numbers()) : Value(x.name());
}

ConvPadding Argument<ConvPadding>::read(const Value& value) {
  return value.is<std::string>() ? ConvPadding(value.get<std::string>().c_str())
                                 : ConvPadding(Argument<PerDim>::read(value));
}

Value Argument<ScaleFactor>::write(const ScaleFactor& x) {
  return x.single() ? Value(x.factors()[0]) : Argument<std::vector<double>>::write(x.factors());
}

ScaleFactor Argument<ScaleFactor>::read(const Value& value) {
  return value.is<double>() ? ScaleFactor(value.get<double>())
                            : ScaleFactor(Argument<std::vector<double>>::read(value));
}

}  // namespace tessera::nn::detail
