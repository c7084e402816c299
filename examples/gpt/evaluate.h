// The loss on other data.
#pragma once

#include "stepper.h"

/// Mean loss over the first 16 batches of --eval-data, in order, without dropout. Collective.
double evaluate(const Run& run);
