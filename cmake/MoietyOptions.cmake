# SPDX-License-Identifier: Apache-2.0
# Options of the build. The core (tensor, kernels, autograd, nn) needs a C++20 compiler alone.
include(CheckLanguage)
check_language(CUDA)
find_package(CUDAToolkit 12 QUIET)
if(CMAKE_CUDA_COMPILER AND CUDAToolkit_FOUND)
  set(_has_cuda ON)
else()
  set(_has_cuda OFF)
endif()

option(MOIETY_CUDA "Build the CUDA backend (on where a CUDA toolkit is found)" ${_has_cuda})
set(MOIETY_SIMT "" CACHE STRING
    "Run the CUDA backend on an emulator instead: fast, asan or check (see tests/simt)")
option(MOIETY_DATA "Build the data layer and the moiety tool (HDF5, RDKit)" ON)
option(MOIETY_MPI "Build the MPI communicator" OFF)
option(MOIETY_TESTS "Build the tests (GoogleTest)" ON)
option(MOIETY_BENCH "Build the kernel micro-benchmarks (Google Benchmark)" OFF)
option(MOIETY_ONEDNN "Dense products through oneDNN where it is found; own loops otherwise" ON)
option(MOIETY_WERROR "Warnings are errors; off for compilers that nobody has tried" ON)
option(MOIETY_NATIVE "Compile for the instruction set of this machine" ON)
set(MOIETY_SANITIZE "" CACHE STRING "Sanitizers to compile with: address,undefined or thread")

if(MOIETY_MPI)
  message(FATAL_ERROR "MOIETY_MPI: this release trains in one process; configure with "
                      "-DMOIETY_MPI=OFF")
endif()

if(MOIETY_SIMT)
  if(NOT MOIETY_SIMT MATCHES "^(fast|asan|check)$")
    message(FATAL_ERROR "MOIETY_SIMT must be fast, asan or check, not ${MOIETY_SIMT}")
  endif()
  set(MOIETY_CUDA ON CACHE BOOL "" FORCE)
elseif(MOIETY_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES 90-real CACHE STRING "GPUs to compile for")
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(architecture MATCHES "^all" OR (architecture MATCHES "^([0-9]+)" AND CMAKE_MATCH_1 LESS 80))
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES has ${architecture}, and the kernels need the "
                          "instructions of 80 (Ampere) and newer")
    endif()
  endforeach()
  enable_language(CUDA)
  # CMake 3.25 does not know how nvcc is asked for C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
  list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
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
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# Applied to the project's own targets only; never exported to those who link the library.
add_library(moiety_build_flags INTERFACE)
set(_host_flags -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    -Wno-unknown-pragmas
    # g++ 12 warns of std::string's own operator+ (GCC bug 105651).
    -Wno-restrict
    # Change no result, and let loops with sqrt and comparisons vectorise.
    -fno-math-errno -fno-trapping-math)
if(MOIETY_NATIVE)
  list(APPEND _host_flags -march=native)
endif()
if(MOIETY_SANITIZE)
  list(APPEND _host_flags -fsanitize=${MOIETY_SANITIZE} -fno-omit-frame-pointer
       -fno-sanitize-recover=all)
  target_link_options(moiety_build_flags INTERFACE -fsanitize=${MOIETY_SANITIZE})
endif()
# Device code: constexpr functions of headers are usable in kernels, and what would be slow (spilled
# registers, local memory) or wrong (a host call) is an error.
set(_cuda_flags --expt-relaxed-constexpr -lineinfo -Xcompiler=-Wall
    -Werror=all-warnings,cross-execution-space-call,reorder,default-stream-launch
    -Xptxas=--warn-on-spills,--warn-on-local-memory-usage,-Werror)
if(NOT MOIETY_WERROR)
  list(FILTER _host_flags EXCLUDE REGEX "^-Werror$")
  list(FILTER _cuda_flags EXCLUDE REGEX "-Werror")
endif()
target_compile_options(moiety_build_flags INTERFACE
                       "$<$<COMPILE_LANGUAGE:CXX>:${_host_flags}>"
                       "$<$<COMPILE_LANGUAGE:CUDA>:${_cuda_flags}>")
