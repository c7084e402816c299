# Language standard, build type, warnings and sanitizers.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

option(BUILD_SHARED_LIBS "Build tessera as a shared library" ON)
option(TESSERA_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(TESSERA_UNITY "Compile files of a room together, which halves the time of a build from nothing" ON)
option(TESSERA_WERROR "Treat warnings as errors" OFF)
option(TESSERA_FUZZ "Build the fuzzers of tests/fuzz; needs clang" OFF)
set(TESSERA_SANITIZE "" CACHE STRING "Empty, address (with undefined) or thread")
set_property(CACHE TESSERA_SANITIZE PROPERTY STRINGS "" address thread)

if(TESSERA_SANITIZE STREQUAL "address")
  # Without what the address sanitizer sees too, which is a quarter of the time to compile.
  set(TESSERA_SANITIZE_FLAGS -fsanitize=address,undefined -fno-sanitize=null,object-size
    -fno-sanitize-recover=all)
elseif(TESSERA_SANITIZE STREQUAL "thread")
  set(TESSERA_SANITIZE_FLAGS -fsanitize=thread)
elseif(NOT TESSERA_SANITIZE STREQUAL "")
  message(FATAL_ERROR "TESSERA_SANITIZE: got ${TESSERA_SANITIZE}, expected address or thread")
endif()

if(TESSERA_SANITIZE)
  set(TESSERA_DEFAULT_BUILD_TYPE Sanitize)
  set(CMAKE_CXX_FLAGS_SANITIZE "-Og -g1 -fno-omit-frame-pointer" CACHE STRING "Flags of sanitizer builds")
  add_compile_options(${TESSERA_SANITIZE_FLAGS})
  add_link_options(${TESSERA_SANITIZE_FLAGS})
else()
  set(TESSERA_DEFAULT_BUILD_TYPE Release)
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE ${TESSERA_DEFAULT_BUILD_TYPE} CACHE STRING "Release, Debug, RelWithDebInfo or Sanitize" FORCE)
endif()

find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT TESSERA_SANITIZE)
  # Precompiled headers need the sloppiness to be cached. Seen from their own folders, if these lie
  # equally deep, the command lines of two builds are the same, so what no option touches is compiled
  # once for both; for a sanitizer's build, which touches all, the cache would only cost time. Its cost
  # to others is the reading of precompiled headers, of 70 MB and more, which by inode it does once.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
    CCACHE_INODECACHE=1 CCACHE_BASEDIR=${PROJECT_BINARY_DIR} ${TESSERA_CCACHE})
endif()

add_library(tessera_flags INTERFACE)
target_compile_options(tessera_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers
  -fno-semantic-interposition   # as cmake/TesseraLibrary.cmake links: calls may be put in line
  -ffp-contract=off   # a fused multiply-add must be asked for: bits may not depend on the optimizer
  $<$<STREQUAL:${TESSERA_SANITIZE},thread>:-Wno-tsan>   # Asio's and libstdc++'s fences
  $<$<BOOL:${TESSERA_UNITY}>:-Wno-subobject-linkage>   # GCC takes an included source for a header
  $<$<BOOL:${TESSERA_WERROR}>:-Werror>
  $<$<BOOL:${TESSERA_SANITIZE}>:-w>)   # GCC is often wrong about instrumented code; other builds warn
