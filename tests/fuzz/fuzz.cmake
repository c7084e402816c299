# Fuzzers of the readers, one program for each in build/bin: -DTESSERA_FUZZ=ON, with clang.
#
#   CXX=clang++ cmake -B build/fuzz -DTESSERA_FUZZ=ON -DTESSERA_SANITIZE=address
#   cmake --build build/fuzz --target fuzzers
#   build/fuzz/bin/fuzz_safetensors -max_total_time=600 NEW tests/fuzz/corpus/safetensors
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "TESSERA_FUZZ needs clang; got ${CMAKE_CXX_COMPILER_ID}")
endif()
if(NOT TESSERA_HAVE_HDF5)
  message(FATAL_ERROR "TESSERA_FUZZ needs HDF5")
endif()

# The readers and what they stand on, so that coverage says something of them.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/base/*.cpp
  ${PROJECT_SOURCE_DIR}/core/device/affinity.cpp ${PROJECT_SOURCE_DIR}/core/device/thread_pool.cpp
  ${PROJECT_SOURCE_DIR}/core/tensor/dtype.cpp ${PROJECT_SOURCE_DIR}/core/tensor/shape.cpp
  ${PROJECT_SOURCE_DIR}/nn/io/aligned_buffer.cpp ${PROJECT_SOURCE_DIR}/nn/io/array_file.cpp
  ${PROJECT_SOURCE_DIR}/nn/io/file_checksum.cpp ${PROJECT_SOURCE_DIR}/nn/io/hdf5_*.cpp
  ${PROJECT_SOURCE_DIR}/nn/io/json_cursor.cpp ${PROJECT_SOURCE_DIR}/nn/io/safetensors*.cpp
  ${PROJECT_SOURCE_DIR}/nn/io/staged_writer.cpp
  support/simulated_*.cpp)
add_library(fuzzed OBJECT EXCLUDE_FROM_ALL ${sources} fuzz/readers.cpp)
target_compile_options(fuzzed PUBLIC -fsanitize=fuzzer-no-link)
target_include_directories(fuzzed PUBLIC ${TESSERA_INCLUDE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(fuzzed PUBLIC tessera_hdf5 Threads::Threads)

add_custom_target(fuzzers)
foreach(reader safetensors hdf5 own_hdf5)
  add_executable(fuzz_${reader} EXCLUDE_FROM_ALL fuzz/fuzzer.cpp)
  target_compile_definitions(fuzz_${reader} PRIVATE TESSERA_FUZZ_READER="${reader}")
  target_link_libraries(fuzz_${reader} PRIVATE fuzzed)
  target_link_options(fuzz_${reader} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${reader})
endforeach()
