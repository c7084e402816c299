# tests/mpi: one program with a main of its own, under mpirun with 2 and 4 ranks, and with 2 of which
# one acts as an older CPU.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS mpi/*.cpp)
tessera_without_absent(sources HDF5 ".*/hdf5_")
if(NOT TESSERA_HAVE_MPI OR NOT sources)
  return()
endif()
tessera_test_program(test_mpi ${sources})
target_link_libraries(test_mpi PRIVATE tessera_mpi)
tessera_compile_soon(test_mpi)
tessera_unity(test_mpi)

function(tessera_mpi_test name)
  tessera_test(${name} 2 ${MPIEXEC_EXECUTABLE} ${ARGN})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1
    ASAN_OPTIONS=fast_unwind_on_malloc=0)
  set_property(TEST ${name} PROPERTY LABELS mpi)
endfunction()

foreach(ranks 2 4)
  tessera_mpi_test(mpi_${ranks} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:test_mpi>)
endforeach()
set(data_parallel $<TARGET_FILE:test_mpi> --gtest_filter=DataParallelOverMpi.*)
tessera_mpi_test(mpi_unlike ${MPIEXEC_NUMPROC_FLAG} 1 -x TESSERA_ISA=baseline ${data_parallel} :
  ${MPIEXEC_NUMPROC_FLAG} 1 ${data_parallel})
