# <tessera/tessera.h>: every public header of every room; <tessera/ops.h>: those of all ops. Not
# public: headers ending in _impl.h, those below a folder named detail, the kernels, and what stands
# between Tessera and a package (nn/io/hdf5*, dist/comm/mpi).
function(tessera_public_headers room out)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${room}/*.h)
  get_property(needs GLOBAL PROPERTY TESSERA_NEEDS_${room})
  list(TRANSFORM headers REPLACE "^${room}/" "")
  tessera_without_absent(headers ${needs})
  list(FILTER headers EXCLUDE REGEX "_impl\\.h$|(^|/)detail/|(^|/)io/hdf5|(^|/)comm/(mpi|nccl)")
  set(public "")
  foreach(header IN LISTS headers)
    file(STRINGS ${PROJECT_SOURCE_DIR}/${room}/${header} foreign
      REGEX "#include <(mpi|hdf5|dnnl|oneapi/|xxhash|nlohmann/|boost/|cuda|nccl|cudnn)")
    if(NOT foreign)
      list(APPEND public ${room}/${header})
    endif()
  endforeach()
  list(SORT public)
  set(${out} ${public} PARENT_SCOPE)
endfunction()

# tessera_umbrella(NAME "what it is" HEADER...): include/tessera/NAME.
function(tessera_umbrella name what)
  set(text "// ${what} Generated: one line for every public header.\n#pragma once\n\n")
  foreach(header IN LISTS ARGN)
    string(APPEND text "#include <tessera/${header}>\n")
  endforeach()
  file(CONFIGURE OUTPUT ${TESSERA_INCLUDE_DIR}/tessera/${name} CONTENT "${text}" @ONLY)
endfunction()

set(all "")
foreach(room core nn dist launch)
  tessera_public_headers(${room} headers)
  list(APPEND all ${headers})
endforeach()
tessera_umbrella(tessera.h "All of Tessera." ${all})
list(FILTER all INCLUDE REGEX "^core/ops/[^/]*$")
tessera_umbrella(ops.h "All ops." ${all})
