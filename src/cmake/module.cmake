# jobman_module(NAME SOURCES a.cpp b.cpp DEPENDS base core LIBRARIES CURL::libcurl)
#
# One static library per module, jobman_NAME. DEPENDS are modules of docs/layers.txt.
function(jobman_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(jobman_${name} STATIC ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPENDS PREPEND jobman_)
  target_link_libraries(jobman_${name} PUBLIC jobman_options ${ARG_DEPENDS} ${ARG_LIBRARIES})
endfunction()

# Tests run with an empty home, and check_home shows that they left it so.
set(JOBMAN_CALLERS_HOME ${CMAKE_BINARY_DIR}/callers-home)
function(jobman_guard_home)
  set_tests_properties(${ARGN} PROPERTIES FIXTURES_REQUIRED callers_home
    ENVIRONMENT_MODIFICATION
      "HOME=set:${JOBMAN_CALLERS_HOME};XDG_CONFIG_HOME=unset:;XDG_STATE_HOME=unset:;NO_GCE_CHECK=set:true")
endfunction()

# jobman_test(unit_core LABEL unit SOURCES a_test.cpp DEPENDS core LIBRARIES foo)
#
# One GoogleTest program, one ctest of the same name.
function(jobman_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPENDS PREPEND jobman_)
  target_link_libraries(${name} PRIVATE jobman_options ${ARG_DEPENDS} ${ARG_LIBRARIES}
    GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE
    JOBMAN_SOURCE_DIR="${PROJECT_SOURCE_DIR}" JOBMAN_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL})
  jobman_guard_home(${name})
  if(ARG_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()
