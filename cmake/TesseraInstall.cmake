# cmake --install: the library, every header that the public ones may include, the package files.
include(CMakePackageConfigHelpers)
set(TESSERA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)

install(TARGETS tessera tessera_all EXPORT tessera)
install(EXPORT tessera NAMESPACE tessera:: DESTINATION ${TESSERA_PACKAGE_DIR} FILE tessera-targets.cmake)

get_property(rooms GLOBAL PROPERTY TESSERA_ROOMS)
foreach(room IN LISTS rooms)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera
    FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${TESSERA_INCLUDE_DIR}/tessera/tessera.h ${TESSERA_INCLUDE_DIR}/tessera/ops.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera)

set(TESSERA_USED "")
foreach(package MPI ONEDNN HDF5 PNG)
  if(TESSERA_HAVE_${package})
    list(APPEND TESSERA_USED ${package})
  endif()
endforeach()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tessera-config.cmake.in
  ${PROJECT_BINARY_DIR}/tessera-config.cmake INSTALL_DESTINATION ${TESSERA_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tessera-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tessera-config.cmake ${PROJECT_BINARY_DIR}/tessera-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/TesseraPackages.cmake DESTINATION ${TESSERA_PACKAGE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/cmake/packages DESTINATION ${TESSERA_PACKAGE_DIR})
