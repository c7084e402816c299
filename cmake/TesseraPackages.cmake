# Optional packages: TESSERA_WITH_<NAME>=AUTO|ON|OFF. AUTO uses what is found, ON insists, OFF does
# not look. Each gives TESSERA_HAVE_<NAME> and, where it has, an imported target tessera_<name>.
# The installed package reads this file too, so that a static tessera finds what it was built with.
find_package(Threads REQUIRED)

# tessera_package(NAME "what it brings"): declares the option and, unless it is OFF, runs
# tessera_find_<NAME>(), a macro that sets TESSERA_FOUND_<NAME> and TESSERA_DETAIL_<NAME>: the
# version when found, otherwise what is missing.
function(tessera_package name brings)
  set(TESSERA_WITH_${name} AUTO CACHE STRING "${brings}: AUTO, ON or OFF")
  set_property(CACHE TESSERA_WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  set(with ${TESSERA_WITH_${name}})
  if(NOT with MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "TESSERA_WITH_${name}: got ${with}, expected AUTO, ON or OFF")
  endif()
  set(TESSERA_FOUND_${name} FALSE)
  set(TESSERA_DETAIL_${name} "switched off")
  if(NOT with STREQUAL OFF)
    cmake_language(CALL tessera_find_${name})
  endif()
  if(with STREQUAL ON AND NOT TESSERA_FOUND_${name})
    message(FATAL_ERROR "TESSERA_WITH_${name}=ON: ${TESSERA_DETAIL_${name}}")
  endif()
  set(TESSERA_HAVE_${name} ${TESSERA_FOUND_${name}} PARENT_SCOPE)
  set_property(GLOBAL APPEND PROPERTY TESSERA_PACKAGES ${name})
  list(JOIN TESSERA_DETAIL_${name} " " detail)
  set_property(GLOBAL PROPERTY TESSERA_SUMMARY_${name} "${with}" "${TESSERA_FOUND_${name}}" "${brings}" "${detail}")
endfunction()

# tessera_headers(TARGET HEADER): an imported target for a package of one include folder; sets
# TARGET_INCLUDE_DIR in the cache and leaves no target when the header is not found.
function(tessera_headers target header)
  find_path(${target}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARGN})
  mark_as_advanced(${target}_INCLUDE_DIR)
  if(${target}_INCLUDE_DIR AND NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE ${${target}_INCLUDE_DIR})
  endif()
endfunction()

foreach(package MPI ONEDNN HDF5 PNG CUDA NCCL CUDNN)
  include(${CMAKE_CURRENT_LIST_DIR}/packages/${package}.cmake)
endforeach()

# Prints one line a package.
function(tessera_print_packages)
  get_property(packages GLOBAL PROPERTY TESSERA_PACKAGES)
  set(text "\n  package  asked  used  what\n")
  foreach(name IN LISTS packages)
    get_property(summary GLOBAL PROPERTY TESSERA_SUMMARY_${name})
    list(GET summary 0 with)
    list(GET summary 1 used)
    list(GET summary 2 brings)
    list(GET summary 3 detail)
    if(used)
      set(used "yes")
    else()
      set(used "no")
    endif()
    string(SUBSTRING "${name}         " 0 8 name)
    string(SUBSTRING "${with}         " 0 6 with)
    string(SUBSTRING "${used}         " 0 5 used)
    string(APPEND text "  ${name} ${with} ${used} ${brings}: ${detail}\n")
  endforeach()
  message(STATUS "Tessera ${tessera_VERSION}, ${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}${text}")
endfunction()
