# SPDX-License-Identifier: Apache-2.0
# Debian's librdkit-dev ships no CMake package: headers in <prefix>/include/rdkit, libRDKit*.so.
# Gives RDKit::RDKit with the components asked for.
find_path(RDKit_INCLUDE_DIR GraphMol/RDKitBase.h PATH_SUFFIXES rdkit)
set(RDKit_LIBRARIES "")
foreach(component IN LISTS RDKit_FIND_COMPONENTS)
  find_library(RDKit_${component}_LIBRARY NAMES RDKit${component})
  mark_as_advanced(RDKit_${component}_LIBRARY)
  if(RDKit_${component}_LIBRARY)
    set(RDKit_${component}_FOUND TRUE)
    list(APPEND RDKit_LIBRARIES ${RDKit_${component}_LIBRARY})
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RDKit REQUIRED_VARS RDKit_INCLUDE_DIR RDKit_LIBRARIES
                                  HANDLE_COMPONENTS)

if(RDKit_FOUND AND NOT TARGET RDKit::RDKit)
  find_package(Boost REQUIRED)  # headers only
  add_library(RDKit::RDKit INTERFACE IMPORTED)
  target_include_directories(RDKit::RDKit SYSTEM INTERFACE ${RDKit_INCLUDE_DIR})
  target_link_libraries(RDKit::RDKit INTERFACE ${RDKit_LIBRARIES} Boost::headers)
endif()
