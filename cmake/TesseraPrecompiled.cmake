# Precompiled headers, half of a file's compile time, that hide nothing: a file gets one only when its
# own includes reach that header. So it still shows that it includes what it uses: taking the
# precompiled header away would change nothing. That each header does so too is seen to by
# tests/headers.cmake. A file gets the first of the list that it reaches.
set(TESSERA_PRECOMPILED nn/module.h core/dispatch/call.h core/tensor/tensor.h core/tensor/dtype.h)

# tessera_reach(FILE OUT): the first of TESSERA_PRECOMPILED that FILE is or includes, in any depth.
function(tessera_reach file out)
  get_property(known GLOBAL PROPERTY "TESSERA_REACH_${file}" SET)
  if(NOT known)
    set(reached "")
    if(EXISTS ${file})
      set_property(GLOBAL PROPERTY "TESSERA_REACH_${file}" "")   # while below, and for good without one
      file(RELATIVE_PATH reached ${PROJECT_SOURCE_DIR} ${file})
      file(STRINGS ${file} includes REGEX "^#include <tessera/")
      foreach(include IN LISTS includes)
        string(REGEX REPLACE "^#include <tessera/([^>]*)>.*" "${PROJECT_SOURCE_DIR}/\\1" include "${include}")
        tessera_reach(${include} further)
        list(APPEND reached ${further})
      endforeach()
    endif()
    tessera_first_precompiled(reached ${reached})
    set_property(GLOBAL PROPERTY "TESSERA_REACH_${file}" "${reached}")
  endif()
  get_property(reached GLOBAL PROPERTY "TESSERA_REACH_${file}")
  set(${out} ${reached} PARENT_SCOPE)
endfunction()

# tessera_first_precompiled(OUT HEADER...): the first of TESSERA_PRECOMPILED that is among the headers.
function(tessera_first_precompiled out)
  set(${out} "" PARENT_SCOPE)
  foreach(header IN LISTS TESSERA_PRECOMPILED)
    if(header IN_LIST ARGN)
      set(${out} ${header} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# tessera_precompile(OUT TARGET SOURCE...): object libraries of the sources, given by whole paths, one
# for each precompiled header that some of them get, and one for those that get none.
function(tessera_precompile out target)
  set(targets "")
  foreach(source IN LISTS ARGN)
    tessera_reach(${source} header)
    get_filename_component(name "${header}" NAME_WE)
    string(JOIN _ part ${target} ${name})
    if(NOT TARGET ${part})
      add_library(${part} OBJECT)
      target_link_libraries(${part} PRIVATE tessera_flags)
      list(APPEND targets ${part})
      if(header)
        target_precompile_headers(${part} REUSE_FROM tessera_precompiled_${name})
      endif()
    endif()
    target_sources(${part} PRIVATE ${source})
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

foreach(header IN LISTS TESSERA_PRECOMPILED)
  get_filename_component(name ${header} NAME_WE)
  set(source ${PROJECT_BINARY_DIR}/precompiled/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing: a target that precompiles a header needs a source.\n" @ONLY)
  add_library(tessera_precompiled_${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(tessera_precompiled_${name} PRIVATE tessera_flags)
  target_precompile_headers(tessera_precompiled_${name} PRIVATE <tessera/${header}>)
endforeach()
