// The arithmetic of tensors: x + y, x - y, x * y, x / y and -x.
#pragma once

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/sub.h>
