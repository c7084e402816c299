// Prints the roofs of this machine as JSON.
//
//   bench_roofs            medians of 7 samples, with 1 thread and with 2
//   bench_roofs --serve    one sample for every line of standard input, such as "fma_f32 2"
#include "roofs.h"

#include <iostream>
#include <sstream>
#include <string>

namespace {

constexpr double kGiga = 1e9;

void print_rows(int samples) {
  const char* separator = "";
  std::cout << "{\"bench\": \"roofs\", \"rows\": [";
  for (int threads : {1, 2}) {
    for (bench::Roof roof : bench::kRoofs) {
      std::cout << separator << "{\"name\": \"" << bench::to_string(roof)
                << "\", \"threads\": " << threads
                << ", \"value\": " << bench::measure_median(roof, threads, samples) / kGiga
                << ", \"unit\": \"" << (bench::is_copy(roof) ? "GB/s" : "GFLOP/s") << "\"}";
      separator = ", ";
    }
  }
  std::cout << "]}" << std::endl;
}

/// Answers "NAME THREADS", such as "fma_f32 2", with one sample; false when there is no such roof.
bool answer(const std::string& line) {
  std::istringstream words(line);
  std::string name;
  int threads = 1;
  words >> name >> threads;
  for (bench::Roof roof : bench::kRoofs) {
    if (bench::to_string(roof) == name) {
      std::cout << "{\"value\": " << bench::measure(roof, threads) / kGiga << "}" << std::endl;
      return true;
    }
  }
  std::cerr << "bench_roofs: no such roof; got " << name << ", expected fma_f32, ...\n";
  return false;
}

int serve() {
  std::cout << R"({"ready": true, "name": "roofs"})" << std::endl;
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    if (!answer(line)) {
      return 2;
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string(arguments[1]) == "--serve") {
    return serve();
  }
  print_rows(7);
  return 0;
}
