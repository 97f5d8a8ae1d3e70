# One interface target carries the flags of every target of ours.
add_library(jobman_options INTERFACE)
target_include_directories(jobman_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(jobman_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Werror=switch -Werror=unused-result)

# Newer compilers have warnings that this code has not met; there they only warn.
if(JOBMAN_WERROR AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15 AND NOT
   (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13))
  target_compile_options(jobman_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of g++ 12: about std::string (GCC bug 105651), and at -O2 about members of large
  # structs that every path has initialised.
  target_compile_options(jobman_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ collects garbage from 128 MB on. Most files need 300 MB to 600 MB: a tenth of the time.
  add_compile_options("SHELL:--param ggc-min-heapsize=524288")
  # -O3 makes the program a fifth larger, also in memory, and `list` takes as many instructions.
  string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
  # What nobody calls is left out: of a controller almost a megabyte less is mapped.
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " -ffunction-sections -fdata-sections")
  string(APPEND CMAKE_EXE_LINKER_FLAGS_RELEASE " -Wl,--gc-sections")
endif()
if(JOBMAN_SANITIZE)
  # -O1: coroutine frames of unoptimised code are several times as large and as slow.
  # _GLIBCXX_ASSERTIONS: no sanitizer sees the value of an empty optional.
  add_compile_options(-fsanitize=${JOBMAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1
    -D_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${JOBMAN_SANITIZE})
  if(JOBMAN_SANITIZE MATCHES "address" AND CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ guards UBSan's own tables, half a program, as if they were globals of ours. Without that a
    # short command takes a fifth less time. The preset dev looks for overflows of real globals.
    add_compile_options("SHELL:--param asan-globals=0")
  endif()
  if(NOT JOBMAN_SANITIZE MATCHES "thread" AND NOT JOBMAN_HARDEN)
    # The tables of UBSan hold a million addresses. Where the program's own is fixed, none of them must
    # be written when it starts: a fifth of what a short command costs.
    add_link_options(-no-pie)
  endif()
  find_program(JOBMAN_LLD ld.lld)
  if(JOBMAN_LLD)  # links these large programs in a third of the time
    add_link_options(-fuse-ld=lld)
  endif()
  if(JOBMAN_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # of the fences in Asio, which have one thread on either side
  endif()
endif()
if(JOBMAN_FUZZ)
  # clang's check of function types does not compile in coroutines. The words are those by which
  # clang 14 reads libstdc++'s coroutines; see .clang-tidy.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=function
    -fno-sanitize-recover=all -O1 -g1 -Wno-unknown-warning-option
    -D__cpp_impl_coroutine=201902L -DASIO_HAS_CO_AWAIT=1 -DASIO_HAS_STD_COROUTINE=1)
  add_link_options(-fsanitize=address,undefined)
endif()
if(JOBMAN_HARDEN)
  # Read back from the programs by check_hardening. _GLIBCXX_ASSERTIONS: an index out of bounds ends
  # the program instead of reading on.
  add_compile_options("SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3" -D_GLIBCXX_ASSERTIONS
    -fstack-protector-strong -fstack-clash-protection -fPIE)
  add_link_options(-pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # One object without the note takes it from the whole program, and Debian 12's start files of glibc
    # have none. They do nothing that a shadow stack forbids, so for that it is set. Their entry
    # points have no landing pads: the note for those (IBT) is there where the start files have it.
    add_compile_options(-fcf-protection=full)
    target_link_options(jobman_options INTERFACE -Wl,-z,shstk)
  endif()
endif()
if(JOBMAN_COVERAGE)
  add_compile_options(--coverage -O0 -g)
  add_link_options(--coverage)
endif()
if(CMAKE_UNITY_BUILD)
  # An anonymous namespace is no longer in the main file then, which g++ takes for a header's.
  add_compile_options(-Wno-subobject-linkage)
endif()
if(JOBMAN_TIDY)
  set(CMAKE_CXX_CLANG_TIDY clang-tidy --quiet)
endif()
find_program(JOBMAN_CCACHE ccache)
if(JOBMAN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${JOBMAN_CCACHE})
endif()
