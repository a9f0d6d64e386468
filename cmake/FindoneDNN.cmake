# SPDX-License-Identifier: Apache-2.0
# oneDNN::oneDNN from its header and library alone: the package file that Debian ships asks for the
# OpenCL headers as well, which nobody needs on a CPU.
find_path(oneDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(oneDNN_LIBRARY dnnl)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(oneDNN REQUIRED_VARS oneDNN_LIBRARY oneDNN_INCLUDE_DIR)
if(oneDNN_FOUND AND NOT TARGET oneDNN::oneDNN)
  add_library(oneDNN::oneDNN UNKNOWN IMPORTED)
  set_target_properties(oneDNN::oneDNN PROPERTIES IMPORTED_LOCATION ${oneDNN_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${oneDNN_INCLUDE_DIR})
endif()
