#include <tessera/core/dispatch/infer.h>

#include <tessera/core/base/context.h>

namespace tessera {

void fail_missing(const char* op, int i) {
  const bool early = !Context::current().pass.last;
  fail<MissingTensor>(
      op, ": input ", i, " is missing; got no tensor, expected one",
      early ? "; grad() of a parameter comes with the last pass of a training step: put what "
              "uses it into `if (Context::current().pass.last)`, or take it by grad(loss, {...})"
            : "");
}

}  // namespace tessera
