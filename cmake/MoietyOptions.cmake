# SPDX-License-Identifier: Apache-2.0
# Options of the build. The core (tensor, kernels, autograd, nn) needs a C++20 compiler alone.
include(CheckLanguage)
check_language(CUDA)
find_package(CUDAToolkit QUIET)
if(CMAKE_CUDA_COMPILER AND CUDAToolkit_FOUND)
  set(_has_cuda ON)
else()
  set(_has_cuda OFF)
endif()

option(MOIETY_CUDA "Build the CUDA backend (on where a CUDA toolkit is found)" ${_has_cuda})
option(MOIETY_DATA "Build the data layer and the moiety tool (HDF5, RDKit)" ON)
option(MOIETY_MPI "Build the MPI communicator" OFF)
option(MOIETY_TESTS "Build the tests (GoogleTest)" ON)
option(MOIETY_BENCH "Build the kernel micro-benchmarks (Google Benchmark)" OFF)
option(MOIETY_ONEDNN "Dense products through oneDNN where it is found; own loops otherwise" ON)
option(MOIETY_NATIVE "Compile for the instruction set of this machine" ON)
set(MOIETY_SANITIZE "" CACHE STRING "Sanitizers to compile with: address,undefined or thread")

if(MOIETY_MPI)
  message(FATAL_ERROR "MOIETY_MPI: this release trains in one process; configure with "
                      "-DMOIETY_MPI=OFF")
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(MOIETY_CCACHE ccache)
if(MOIETY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the sources, so that clones in different folders share what is compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${MOIETY_CCACHE})
endif()

# Applied to the project's own targets only; never exported to those who link the library.
add_library(moiety_build_flags INTERFACE)
target_compile_options(moiety_build_flags INTERFACE -Wall -Wextra -Werror -Wshadow
                       -Wnon-virtual-dtor -Woverloaded-virtual -Wno-unknown-pragmas
                       # g++ 12 warns of std::string's own operator+ (GCC bug 105651).
                       -Wno-restrict
                       # Change no result, and let loops with sqrt and comparisons vectorise.
                       -fno-math-errno -fno-trapping-math)
if(MOIETY_NATIVE)
  target_compile_options(moiety_build_flags INTERFACE -march=native)
endif()
if(MOIETY_SANITIZE)
  target_compile_options(moiety_build_flags INTERFACE -fsanitize=${MOIETY_SANITIZE}
                         -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(moiety_build_flags INTERFACE -fsanitize=${MOIETY_SANITIZE})
endif()
