#include <tessera/nn/tracking/expected_returns.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include <tessera/core/ops/cast.h>

namespace tessera::nn {
namespace {

std::string_view without_spaces(std::string_view key) {
  return key.substr(std::min(key.find_first_not_of(' '), key.size()));
}

double tolerance(const std::vector<double>& given, std::size_t call, std::string_view key) {
  check<ValueError>(given.size() == 1 || call < given.size(), "expected returns: \"", key,
                    "\" has ", given.size(), " tolerances for call ", call);
  return given.size() == 1 ? given[0] : given[call];
}

bool is_nan(double x) {
  return std::isnan(x);
}
bool is_nan(const std::complex<double>& x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

/// The largest differences of numbers from those that were expected.
struct Differences {
  double absolute = 0;
  double relative = 0;
  bool within = true;

  template <class T>
  void add(const T& got, const T& expected, double atol, double rtol) {
    const double difference = std::abs(got - expected);
    const bool equal = got == expected || (is_nan(got) && is_nan(expected));
    within = within && (equal || difference <= atol + rtol * std::abs(expected));
    absolute = std::max(absolute, equal ? 0 : difference);
    relative = std::max(relative, equal ? 0 : difference / std::abs(expected));
  }
};

/// One comparison of a return with what was expected.
class Comparison {
 public:
  Comparison(std::string_view key, std::size_t call, double atol, double rtol)
      : key_(key), call_(call), atol_(atol), rtol_(rtol) {}

  void compare(const Value& got, const Value& expected) const {
    if (expected.empty()) {
      return;
    }
    require(got.kind() == expected.kind(), "got ", got.kind(), ", expected ", expected.kind());
    if (expected.is<Tensor>()) {
      compare_tensors(got.tensor(), expected.tensor());
    } else if (expected.is<Value::List>()) {
      compare_lists(got.get<Value::List>(), expected.get<Value::List>());
    } else if (expected.is<Value::Map>()) {
      compare_maps(got.get<Value::Map>(), expected.get<Value::Map>());
    } else if (expected.is<double>()) {
      compare_numbers<double>({got.get<double>()}, {expected.get<double>()});
    } else {
      compare_exactly(got, expected);
    }
  }

 private:
  template <class... Parts>
  void require(bool holds, const Parts&... what) const {
    check<CheckFailure>(holds, "return ", call_, " of \"", without_spaces(key_), "\": ", what...);
  }
  void compare_lists(const Value::List& got, const Value::List& expected) const {
    require(got.size() == expected.size(), "got ", got.size(), " values, expected ",
            expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      compare(got[i], expected[i]);
    }
  }
  void compare_maps(const Value::Map& got, const Value::Map& expected) const {
    require(got.size() == expected.size(), "got ", got.size(), " names, expected ",
            expected.size());
    for (const auto& [name, value] : expected) {
      require(got.contains(name), "got no \"", name, "\"");
      compare(got.at(name), value);
    }
  }
  void compare_exactly(const Value& got, const Value& expected) const {
    if (expected.is<bool>()) {
      compare_as<bool>(got, expected);
    } else if (expected.is<std::int64_t>()) {
      compare_as<std::int64_t>(got, expected);
    } else if (expected.is<std::string>()) {
      compare_as<std::string>(got, expected);
    } else {
      require(expected.is<Value::Bytes>(), expected.kind(), " cannot be compared");
      require(got.get<Value::Bytes>() == expected.get<Value::Bytes>(), "got other bytes");
    }
  }
  template <class T>
  void compare_as(const Value& got, const Value& expected) const {
    require(got.get<T>() == expected.get<T>(), "got ", got.get<T>(), ", expected ",
            expected.get<T>());
  }
  void compare_tensors(const Tensor& got, const Tensor& expected) const {
    require(got.shape() == expected.shape(), "got shape ", got.shape(), ", expected ",
            expected.shape());
    if (is_complex(got.dtype()) || is_complex(expected.dtype())) {
      using Complex = std::complex<double>;
      compare_numbers(got.to_vector<Complex>(), expected.to_vector<Complex>());
    } else {
      compare_numbers(got.to_vector<double>(), expected.to_vector<double>());
    }
  }
  template <class T>
  void compare_numbers(const std::vector<T>& got, const std::vector<T>& expected) const {
    Differences differences;
    for (std::size_t i = 0; i < got.size(); ++i) {
      differences.add(got[i], expected[i], atol_, rtol_);
    }
    require(differences.within, "not as expected; the largest difference is ", differences.absolute,
            ", relative ", differences.relative);
  }

  std::string_view key_;
  std::size_t call_;
  double atol_;
  double rtol_;
};

}  // namespace

ExpectedReturns::ExpectedReturns(
    std::initializer_list<std::pair<std::string, ExpectedModule>> modules) {
  for (const auto& [key, expected] : modules) {
    set(key, expected);
  }
}

void ExpectedReturns::set(std::string_view key, ExpectedModule expected) {
  modules_.set(without_spaces(key), std::move(expected));
}

void ExpectedReturns::check_return(std::string_view key, std::size_t call, const Value& got) const {
  const ExpectedModule* expected = modules_.find(without_spaces(key));
  if (expected == nullptr) {
    return;
  }
  check<CheckFailure>(call < expected->values.size(), "return ", call, " of \"",
                      without_spaces(key), "\": expected ", expected->values.size(), " calls only");
  const Comparison comparison(key, call, tolerance(expected->atol, call, key),
                              tolerance(expected->rtol, call, key));
  comparison.compare(got, expected->values[call]);
}

void ExpectedReturns::check_counts(const OrderedMap<SubmodReturns>& rets) const {
  for (const auto& [key, expected] : modules_) {
    const auto found = std::ranges::find_if(
        rets, [&](const auto& entry) { return without_spaces(entry.first) == key; });
    const std::size_t calls = found == rets.end() ? 0 : (*found).second.outputs.size();
    check<CheckFailure>(calls == expected.values.size(), "\"", key, "\" was called ", calls,
                        " times, expected ", expected.values.size());
  }
}

}  // namespace tessera::nn
