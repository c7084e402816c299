# tests/bench/NAME.cpp: a program build/bin/bench_NAME each.
file(GLOB sources CONFIGURE_DEPENDS bench/*.cpp)
file(GLOB gpt_parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/gpt/*.cpp)
list(FILTER gpt_parts EXCLUDE REGEX "/main\\.cpp$")
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  tessera_test_program(bench_${name} ${source})
  if(name STREQUAL gpt)   # the example, step by step
    target_sources(bench_gpt PRIVATE ${gpt_parts} bench/support/replay.cpp)
    target_include_directories(bench_gpt PRIVATE ${PROJECT_SOURCE_DIR} bench)
  endif()
  if(TESSERA_HAVE_MPI)
    target_link_libraries(bench_${name} PRIVATE tessera_mpi)   # its collectives are rivals
  endif()
endforeach()
