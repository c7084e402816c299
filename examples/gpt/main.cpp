// gpt: trains a GPT on text, alone or on many ranks. See --help.

#include <iostream>

#include <tessera/core/base/error.h>
#include <tessera/core/base/launch_environment.h>

#include "options.h"
#include "signals.h"
#include "train.h"

namespace {

int run(int argc, char** argv) {
  const auto options = parse_options(argc, argv);
  if (!options) {
    return 0;
  }
  const auto timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(options->comm_timeout * 1000));
  const auto world =
      tessera::dist::World::start({.comm_timeout = timeout, .threads = options->threads});
  return world.run([&] { train(*options, world); }, "gpt");
}

}  // namespace

int main(int argc, char** argv) {
  catch_stop_signals();
  try {
    return run(argc, argv);
  } catch (const tessera::InvalidArgument& error) {
    if (tessera::launch_environment().rank == 0) {  // what all find wrong alike, one says
      std::cerr << "gpt: " << error.what() << '\n';
    }
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "gpt: " << error.what() << '\n';
    return tessera::dist::exit_code_of(std::current_exception());
  }
}
