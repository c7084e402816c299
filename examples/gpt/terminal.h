// Whether a person sees what is printed as it is.
#pragma once

/// True when standard output ends on a terminal. Under mpirun it is always a terminal, but mpirun's
/// own, which may be a file or a pipe, counts; where mpirun runs on another host, false.
bool writes_to_terminal();
