# tessera_room(NAME [PACKAGE REGEX]...): the .cpp files below this folder as the object library
# tessera_NAME. Files whose path in the folder matches REGEX are built only with PACKAGE, and are
# linked with its target; this is the one place that decides what an absent package takes away.
# tests/NAME mirrors the folder and leaves out the same paths. A REGEX under NEVER is left to an
# object library of its own, made with tessera_objects().
function(tessera_room name)
  set_property(GLOBAL APPEND PROPERTY TESSERA_ROOMS ${name})
  set_property(GLOBAL PROPERTY TESSERA_NEEDS_${name} "${ARGN}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  tessera_without_absent(sources ${ARGN})
  if(NOT sources)
    return()
  endif()
  tessera_objects(tessera_${name} ${sources})
  if(name MATCHES "^(nn|dist|launch)$")
    target_precompile_headers(tessera_${name} PRIVATE ${TESSERA_PRECOMPILED_MODULES})
  endif()
  set(needs ${ARGN})
  while(needs)
    list(POP_FRONT needs package regex)
    string(TOLOWER tessera_${package} target)
    if(TESSERA_HAVE_${package} AND TARGET ${target})
      target_link_libraries(tessera_${name} PRIVATE ${target})
      set_property(GLOBAL APPEND PROPERTY TESSERA_LINKS ${target})
    endif()
  endwhile()
endfunction()

# Removes from the list named LIST what an absent package takes away.
function(tessera_without_absent list)
  set(files ${${list}})
  set(needs ${ARGN})
  while(needs)
    list(POP_FRONT needs package regex)
    if(NOT TESSERA_HAVE_${package})
      list(FILTER files EXCLUDE REGEX "^(${regex})")
    endif()
  endwhile()
  set(${list} ${files} PARENT_SCOPE)
endfunction()

# Headers that nearly every file of a room reads, compiled once for each object library: two thirds
# of a file's compile time. Files include what they use all the same; the build without
# TESSERA_PRECOMPILE in tests/run shows it.
set(TESSERA_PRECOMPILED <algorithm> <cmath> <cstdint> <functional> <map> <memory> <span> <sstream>
  <string> <utility> <vector> <tessera/core/autograd/vjp.h> <tessera/core/dispatch/call.h>)
set(TESSERA_PRECOMPILED_MODULES <tessera/nn/make.h>)   # of rooms that may include nn

# tessera_objects(TARGET SOURCE...): an object library that becomes part of tessera.
function(tessera_objects target)
  add_library(${target} OBJECT ${ARGN})
  target_link_libraries(${target} PRIVATE tessera_flags)
  target_precompile_headers(${target} PRIVATE ${TESSERA_PRECOMPILED})
  if(NOT TESSERA_PRECOMPILE)
    set_property(TARGET ${target} PROPERTY DISABLE_PRECOMPILE_HEADERS ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY TESSERA_OBJECTS ${target})
endfunction()
