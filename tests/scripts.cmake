# tests/e2e and tests/lint: every executable file is a test. It finds the build folder in
# TESSERA_BUILD and the sources in TESSERA_SOURCE, and skips by printing "skipped: reason" and
# ending with 77. It has both cores to itself, unless it runs one process of one thread after the other.
set(one_core bench_driver compilers dlpack docstrings format includes instruction_sets module paths sizes)
find_program(executable_files find REQUIRED)
foreach(kind e2e lint)
  execute_process(COMMAND ${executable_files} ${CMAKE_CURRENT_SOURCE_DIR}/${kind} -maxdepth 1 -type f -perm -u+x
    OUTPUT_VARIABLE scripts ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" scripts "${scripts}")
  file(GLOB watch CONFIGURE_DEPENDS ${kind}/*)   # a new script runs this file again
  list(SORT scripts)
  foreach(script IN LISTS scripts)
    get_filename_component(name ${script} NAME_WE)
    set(cores 2)
    if(name IN_LIST one_core)
      set(cores 1)
    endif()
    tessera_test(${kind}_${name} ${cores} ${script})
    set_property(TEST ${kind}_${name} PROPERTY LABELS ${kind})
    if(script MATCHES "/lint/(headers|sources)$")   # they compile for minutes: in tests/run thread only
      set_property(TEST ${kind}_${name} PROPERTY LABELS alone)
      set_property(TEST ${kind}_${name} PROPERTY TIMEOUT 1200)
    endif()
  endforeach()
endforeach()

add_library(dlpack_library MODULE e2e/support/dlpack_library.cpp)   # what e2e/dlpack loads
target_link_libraries(dlpack_library PRIVATE tessera tessera_flags)
set_target_properties(dlpack_library PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

foreach(program rank_ends independent)   # what the scripts of those names in e2e/ run
  add_executable(${program} e2e/support/${program}.cpp)
  target_link_libraries(${program} PRIVATE tessera tessera_flags)
endforeach()
