// Letting the model write.
#pragma once

#include "stepper.h"

/// Prints, on rank 0, --prompt and --sample tokens after it, drawn at temperature 0.8. With text as
/// --data they are bytes; of other tokens the numbers are printed. Ends early when a signal asks
/// for it. Collective.
void sample(const Run& run);
