#include <tessera/nn/data/sample_error.h>

#include <exception>

namespace tessera::data {
namespace {

template <class E>
[[noreturn]] void rethrow_as(const std::exception& error, std::int64_t index) {
  std::throw_with_nested(
      E(tessera::detail::concat(error.what(), " (sample ", index, " of the data set)")));
}

}  // namespace

void rethrow_with_sample(std::int64_t index) {
  try {
    throw;
  } catch (const IoError& error) {
    rethrow_as<IoError>(error, index);
  } catch (const InvalidArgument& error) {
    rethrow_as<InvalidArgument>(error, index);
  } catch (const std::exception& error) {
    rethrow_as<RuntimeError>(error, index);
  }
}

SamplesDiffer SamplesDiffer::of_data_set(std::int64_t number, std::int64_t first) const {
  return {
      tessera::detail::concat(what(), " (samples ", number, " and ", first, " of the data set)"),
      place_};
}

}  // namespace tessera::data
