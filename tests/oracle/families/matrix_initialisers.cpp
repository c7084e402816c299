#include <tessera/nn/init/dirac.h>
#include <tessera/nn/init/eye.h>
#include <tessera/nn/init/orthogonal.h>
#include <tessera/nn/init/sparse.h>
#include <tessera/nn/init/trunc_normal.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

using namespace nn::init;

nn::Initializer truncated(const Attributes& a) {
  return trunc_normal(a.number("mean", 0), a.number("std", 1), a.number("a", -2), a.number("b", 2));
}

const Counterparts<Initialiser> kMatrixInitialisers{
    {"eye_", {[](const Attributes&) { return eye(); }}},
    {"dirac_", {[](const Attributes& a) { return dirac(a.integer("groups", 1)); }}},
    {"trunc_normal_", {truncated}},
    {"orthogonal_", {[](const Attributes& a) { return orthogonal(a.number("gain", 1)); }}},
    {"sparse_",
     {[](const Attributes& a) { return sparse(a.number("sparsity"), a.number("std", 0.01)); }}},
};

}  // namespace
}  // namespace tessera::oracle
