// gpt: trains a GPT on text, alone or on many ranks. See --help.

#include <iostream>

#include "options.h"
#include "signals.h"
#include "train.h"

int main(int argc, char** argv) {
  std::optional<Options> options;
  try {
    options = parse_options(argc, argv);
  } catch (const tessera::InvalidArgument& error) {
    std::cerr << "gpt: " << error.what() << '\n';
    return 2;
  }
  if (!options) {
    return 0;
  }
  catch_stop_signals();
  const auto timeout = std::chrono::milliseconds(static_cast<int>(options->comm_timeout * 1000));
  try {
    const auto world = tessera::dist::World::start({.comm_timeout = timeout});
    return world.run([&] { train(*options, world); }, "gpt");
  } catch (const tessera::Error& error) {
    std::cerr << "gpt: " << error.what() << '\n';
    return tessera::dist::exit_code_of(std::current_exception());
  }
}
