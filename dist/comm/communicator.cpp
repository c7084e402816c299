#include <tessera/dist/comm/communicator.h>

#include <utility>

#include <tessera/dist/comm/validate.h>

namespace tessera::dist {

Work Communicator::launch(Collective&& c) {
  validate(c, rank(), size());
  return start(std::move(c));
}

}  // namespace tessera::dist
