// gpt: trains a GPT on text, alone or on many ranks. See --help.

#include <iostream>

#include <tessera/core/base/error.h>
#include <tessera/dist/launcher.h>

#include "options.h"
#include "signals.h"
#include "train.h"

namespace {

/// What every rank finds wrong alike is said by one.
void say(const tessera::Error& error) {
  if (tessera::dist::announced_world().rank == 0) {
    std::cerr << "gpt: " << error.what() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<Options> options;
  try {
    options = parse_options(argc, argv);
  } catch (const tessera::InvalidArgument& error) {
    say(error);
    return 2;
  }
  if (!options) {
    return 0;
  }
  catch_stop_signals();
  const auto timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(options->comm_timeout * 1000));
  try {
    const auto world = tessera::dist::World::start({.comm_timeout = timeout});
    return world.run([&] { train(*options, world); }, "gpt");
  } catch (const tessera::InvalidArgument& error) {
    say(error);
    return 2;
  } catch (const tessera::Error& error) {
    std::cerr << "gpt: " << error.what() << '\n';
    return tessera::dist::exit_code_of(std::current_exception());
  }
}
