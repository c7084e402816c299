# tests/mpi: one program with a main of its own, under mpirun with 2 and 4 ranks.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS mpi/*.cpp)
if(NOT TESSERA_HAVE_MPI OR NOT sources)
  return()
endif()
tessera_test_program(test_mpi ${sources})
target_link_libraries(test_mpi PRIVATE tessera_mpi)

foreach(ranks 2 4)
  tessera_test(mpi_${ranks} 2 ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:test_mpi>)
  set_property(TEST mpi_${ranks} APPEND PROPERTY ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1
    ASAN_OPTIONS=fast_unwind_on_malloc=0)
  set_property(TEST mpi_${ranks} PROPERTY LABELS mpi)
endforeach()
