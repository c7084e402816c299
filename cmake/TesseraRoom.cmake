# tessera_room(NAME [PACKAGE REGEX]...): the .cpp files below this folder as object libraries that
# become part of tessera. Files whose path in the folder matches REGEX are built only with PACKAGE, and
# alone see its target; this is the one place that decides what an absent package takes away.
# tests/NAME mirrors the folder and leaves out the same paths. A REGEX under NEVER is left to
# object libraries of its own.
function(tessera_room name)
  set_property(GLOBAL APPEND PROPERTY TESSERA_ROOMS ${name})
  set_property(GLOBAL PROPERTY TESSERA_NEEDS_${name} "${ARGN}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  set(needs ${ARGN})
  while(needs)
    list(POP_FRONT needs package regex)
    set(users ${sources})
    list(FILTER users INCLUDE REGEX "^(${regex})")
    list(FILTER sources EXCLUDE REGEX "^(${regex})")
    if(TESSERA_HAVE_${package})
      tessera_package_objects(${name} ${package} ${users})
    endif()
  endwhile()
  tessera_objects(tessera_${name} ${sources})
endfunction()

# tessera_package_objects(ROOM PACKAGE SOURCE...): what a room has with a package.
function(tessera_package_objects room package)
  string(TOLOWER ${package} package)
  tessera_objects(tessera_${room}_${package} ${ARGN})
  foreach(target IN LISTS tessera_${room}_${package})
    target_link_libraries(${target} PRIVATE tessera_${package})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TESSERA_LINKS tessera_${package})
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

# tessera_unity(TARGET...): with TESSERA_UNITY sixteen neighbours are one translation unit. Names in
# unnamed namespaces are therefore to differ within a room.
function(tessera_unity)
  set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ${TESSERA_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# tessera_objects(NAME SOURCE...): object libraries that become part of tessera; the variable NAME lists
# them.
function(tessera_objects name)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  tessera_precompile(targets ${name} ${sources})
  tessera_unity(${targets})
  set_property(GLOBAL APPEND PROPERTY TESSERA_OBJECTS ${targets})
  set(${name} ${targets} PARENT_SCOPE)
endfunction()
