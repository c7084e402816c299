# One library from the objects of the rooms. Objects, so that files which register themselves and
# are named by nobody survive linking; a static library is linked whole for the same reason.
get_property(objects GLOBAL PROPERTY TESSERA_OBJECTS)
get_property(TESSERA_LINKS GLOBAL PROPERTY TESSERA_LINKS)
list(REMOVE_DUPLICATES TESSERA_LINKS)

add_library(tessera_all)
foreach(target IN LISTS objects)
  target_sources(tessera_all PRIVATE $<TARGET_OBJECTS:${target}>)
endforeach()
# Calls inside the library go straight to their target: an op makes dozens of them, and nobody is
# meant to replace one from outside.
target_link_options(tessera_all PRIVATE
  $<$<STREQUAL:$<TARGET_PROPERTY:tessera_all,TYPE>,SHARED_LIBRARY>:-Wl,-Bsymbolic-functions>)
target_link_libraries(tessera_all PUBLIC Threads::Threads PRIVATE ${TESSERA_LINKS})
target_include_directories(tessera_all PUBLIC
  $<BUILD_INTERFACE:${TESSERA_INCLUDE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tessera_all PUBLIC cxx_std_20)
set_target_properties(tessera_all PROPERTIES OUTPUT_NAME tessera LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

add_library(tessera INTERFACE)
add_library(tessera::tessera ALIAS tessera)
if(BUILD_SHARED_LIBS)
  target_link_libraries(tessera INTERFACE tessera_all)
else()
  target_link_libraries(tessera INTERFACE
    $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,tessera_all>>
    $<INSTALL_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,tessera::tessera_all>>)
endif()
