// expect: world.communicator()
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/world.h>

void share(tessera::nn::Module& model, const tessera::dist::World& world) {
  tessera::dist::data_parallel(model, world, {.grain = 8});
}
