# SPDX-License-Identifier: Apache-2.0
# A layer of src/: objects that go into the one installed library, and a static library of its own
# that the layer's tests link, so that a forbidden dependency fails at link time as well.
#   moiety_layer(kernels USES tensor LIBRARIES dnnl::dnnl)
function(moiety_layer name)
  cmake_parse_arguments(LAYER "" "" "USES;LIBRARIES;DEFINITIONS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.h)
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cu)
  if(MOIETY_SIMT)
    # The emulator runs what a C++ compiler makes of the same sources.
    set_source_files_properties(${cuda_sources} PROPERTIES LANGUAGE CXX
                                COMPILE_OPTIONS "${MOIETY_SIMT_KERNEL_FLAGS}")
  endif()
  if(MOIETY_CUDA)
    list(APPEND sources ${cuda_sources})
  else()
    list(FILTER sources EXCLUDE REGEX "/src/${name}/cuda/|_cuda\\.cpp$")
    list(FILTER headers EXCLUDE REGEX "/src/${name}/cuda/")
  endif()
  add_library(moiety_${name}_objects OBJECT ${sources})
  target_sources(moiety_${name}_objects PUBLIC FILE_SET HEADERS
                 BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR} FILES ${headers})
  set_target_properties(moiety_${name}_objects PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_include_directories(moiety_${name}_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(moiety_${name}_objects PUBLIC ${LAYER_DEFINITIONS})
  target_link_libraries(moiety_${name}_objects PUBLIC ${LAYER_LIBRARIES}
                        PRIVATE moiety_build_flags)
  add_library(moiety_${name} STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:moiety_${name}_objects>)
  target_include_directories(moiety_${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(moiety_${name} PUBLIC ${LAYER_DEFINITIONS})
  target_link_libraries(moiety_${name} PUBLIC ${LAYER_LIBRARIES})
  foreach(lower IN LISTS LAYER_USES)
    target_link_libraries(moiety_${name}_objects PUBLIC moiety_${lower}_objects)
    target_link_libraries(moiety_${name} PUBLIC moiety_${lower})
  endforeach()
endfunction()
