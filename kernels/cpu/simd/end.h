// Ends what simd/begin.h began. Tables are registered after it: that code runs on every CPU.
#pragma GCC pop_options
