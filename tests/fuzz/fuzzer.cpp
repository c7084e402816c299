// The function that libFuzzer calls; see fuzz.cmake.
#include <cstdint>

#include "readers.h"

#ifndef TESSERA_FUZZ_READER
#define TESSERA_FUZZ_READER "safetensors"
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tessera::fuzz::Reader& reader = tessera::fuzz::reader(TESSERA_FUZZ_READER);
  reader.read(std::as_bytes(std::span(data, size)));
  return 0;
}
