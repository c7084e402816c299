# The same line, #include <tessera/core/tensor/tensor.h>, works in the tree and installed: the build
# folder holds an include/tessera whose entries are links to the source folders.
set(TESSERA_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${TESSERA_INCLUDE_DIR}/tessera)
foreach(room core kernels nn dist launch)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${room} ${TESSERA_INCLUDE_DIR}/tessera/${room} SYMBOLIC)
endforeach()
target_include_directories(tessera_flags INTERFACE ${TESSERA_INCLUDE_DIR})
