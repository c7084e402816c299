# One library from the object libraries of the rooms: objects, so that self-registering files
# survive linking.
add_library(tessera SHARED)
add_library(tessera::tessera ALIAS tessera)
target_link_libraries(tessera PUBLIC tessera_core tessera_kernels tessera_nn tessera_dist Threads::Threads)
target_include_directories(tessera PUBLIC $<BUILD_INTERFACE:${TESSERA_INCLUDE_DIR}> $<INSTALL_INTERFACE:include>)
