// What a call's modules should return.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/base/ordered_map.h>
#include <tessera/nn/tracking/submod_trace.h>

namespace tessera::nn {

/// The returns of one module, call by call; an empty value stands for any. Of a map the names
/// count, in any order; an object cannot be compared and fails. A tolerance is one number for all
/// or one a value: |got - expected| <= atol + rtol * |expected|.
struct ExpectedModule {
  Value::List values;
  std::vector<double> atol{1e-8};
  std::vector<double> rtol{1e-5};
};

/// Expected values by key (nn/tracking/submod_trace.h), with or without the spaces in front.
class ExpectedReturns {
 public:
  ExpectedReturns() = default;
  ExpectedReturns(std::initializer_list<std::pair<std::string, ExpectedModule>> modules);
  void set(std::string_view key, ExpectedModule expected);

  /// Throws CheckFailure naming the key, the call and the largest differences when the return of
  /// call `call` (from 0) of module `key` is another one, or was not expected.
  void check_return(std::string_view key, std::size_t call, const Value& got) const;
  /// Throws CheckFailure for a module that was called too seldom, or never.
  void check_counts(const OrderedMap<SubmodReturns>& rets) const;

 private:
  OrderedMap<ExpectedModule> modules_;
};

}  // namespace tessera::nn
