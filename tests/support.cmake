# What every program of tests is made of.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/support/*.cpp)
list(FILTER sources EXCLUDE REGEX "main\\.cpp$")
add_library(test_support INTERFACE)
target_include_directories(test_support INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})   # "support/..."
target_compile_definitions(test_support INTERFACE TESSERA_TEST_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(test_support INTERFACE tessera tessera_flags GTest::gtest GTest::gmock)

# How unit tests are compiled, which is most of a build's time: soonest, without collecting GCC's
# garbage, and without checks of alignments and of dynamic types, which the library's own code has:
# the latter are three tenths of the time.
set(test_options -O0 $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1000000>
  $<$<STREQUAL:${TESSERA_SANITIZE},address>:-fno-sanitize=alignment$<COMMA>vptr>)

# GoogleTest's headers and Tessera's, compiled once for all programs.
add_executable(test_precompiled EXCLUDE_FROM_ALL support/main.cpp)
target_link_libraries(test_precompiled PRIVATE test_support)
target_compile_options(test_precompiled PRIVATE ${test_options})
target_precompile_headers(test_precompiled PRIVATE <gtest/gtest.h> <gmock/gmock.h> <algorithm> <cmath> <map>
  <tessera/core/dispatch/vjp.h> <tessera/core/dispatch/call.h> <tessera/nn/make.h>)

# tessera_compile_soon(TARGET): the target is compiled as unit tests are.
function(tessera_compile_soon target)
  target_compile_options(${target} PRIVATE ${test_options})
  target_precompile_headers(${target} REUSE_FROM test_precompiled)
endfunction()

if(sources)
  add_library(test_support_objects OBJECT ${sources})   # objects: what registers itself must stay
  target_link_libraries(test_support_objects PRIVATE test_support)
  set_target_properties(test_support_objects PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(test_support_objects PRIVATE -fPIE)   # as the programs that the header is compiled for
  tessera_compile_soon(test_support_objects)
endif()

# tessera_test_program(NAME SOURCE...): a program in build/bin.
function(tessera_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE test_support)
  if(TARGET test_support_objects)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:test_support_objects>)
  endif()
endfunction()

# What sanitizers are told. Short stacks would not match the suppressions: MPI's plug-ins are
# unloaded before leaks are looked for.
set(sanitizer_environment
  UBSAN_OPTIONS=print_stacktrace=1
  LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/support/leaks.supp:print_suppressions=0
  "TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/support/races.supp ignore_noninstrumented_modules=1:die_after_fork=0")

# tessera_test(NAME PROCESSORS COMMAND...): an entry of ctest whose results are recorded, test by
# test, in build/reports/NAME.
function(tessera_test name processors)
  add_test(NAME ${name} COMMAND ${record} ${PROJECT_BINARY_DIR}/reports/${name} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TESSERA_TEST_TIMEOUT} PROCESSORS ${processors})
  set_property(TEST ${name} PROPERTY ENVIRONMENT
    TESSERA_BUILD=${PROJECT_BINARY_DIR} TESSERA_SOURCE=${PROJECT_SOURCE_DIR} ${sanitizer_environment})
endfunction()

# tessera_unit_tests(FOLDER): test_FOLDER, without the files of absent packages. Its files are compiled
# together: what several of them need is in support/ or in a header beside them.
function(tessera_unit_tests folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/${folder} ${folder}/*.cpp)
  get_property(needs GLOBAL PROPERTY TESSERA_NEEDS_${folder})
  tessera_without_absent(sources ${needs})
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM sources PREPEND ${folder}/)
  tessera_test_program(test_${folder} support/main.cpp ${sources})
  tessera_compile_soon(test_${folder})
  tessera_unity(test_${folder})
  math(EXPR last "${TESSERA_TEST_SHARDS} - 1")
  foreach(shard RANGE ${last})
    tessera_test(${folder}_${shard} 1 $<TARGET_FILE:test_${folder}>)
    set_property(TEST ${folder}_${shard} APPEND PROPERTY ENVIRONMENT
      GTEST_TOTAL_SHARDS=${TESSERA_TEST_SHARDS} GTEST_SHARD_INDEX=${shard})
    set_property(TEST ${folder}_${shard} PROPERTY LABELS unit)
  endforeach()
endfunction()
