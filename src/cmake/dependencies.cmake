# Everything comes from the distribution's packages; bootstrap.sh names and installs them.
find_package(Threads REQUIRED)
find_package(CURL 7.74 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(libssh REQUIRED IMPORTED_TARGET libssh>=0.9)
find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
find_path(HTTPLIB_INCLUDE_DIR httplib.h REQUIRED)
# Without it libcrypto hashes short texts, too (ADR 33). Linked statically: a shared one would be one more
# to load at each start.
find_path(LIBMD_INCLUDE_DIR sha2.h)
find_library(LIBMD_LIBRARY libmd.a)

# yaml-cpp before 0.8 exports no namespaced target.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

# Asio's non-template half is compiled once, in src/base/asio.cpp.
add_library(jobman_asio INTERFACE)
target_include_directories(jobman_asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
# ASIO_DISABLE_STD_ALIGNED_ALLOC: else Asio 1.22 takes aligned_alloc or operator new for coroutine
# frames by what was included before it, and one file frees what another allocated the other way.
target_compile_definitions(jobman_asio INTERFACE
  ASIO_STANDALONE ASIO_SEPARATE_COMPILATION ASIO_NO_DEPRECATED ASIO_DISABLE_STD_ALIGNED_ALLOC)
# A false alarm of g++ 12: a coroutine frame has its own operators new and delete, and they match.
target_compile_options(jobman_asio INTERFACE -Wno-mismatched-new-delete)
target_link_libraries(jobman_asio INTERFACE Threads::Threads)
