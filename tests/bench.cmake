# tests/bench/NAME.cpp: a program build/bin/bench_NAME each.
file(GLOB sources CONFIGURE_DEPENDS bench/*.cpp)
foreach(source IN LISTS sources)
  get_filename_component(name ${source} NAME_WE)
  tessera_test_program(bench_${name} ${source})
  if(TESSERA_HAVE_MPI)
    target_link_libraries(bench_${name} PRIVATE tessera_mpi)   # its collectives are rivals
  endif()
endforeach()
