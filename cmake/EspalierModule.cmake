# espalier_module(NAME SOURCES ... [PUBLIC libraries...] [PRIVATE libraries...])
# One folder of the engine as the static library espalier_NAME. The link lines are the dependency rules of docs/ARCHITECTURE.md.
find_package(Threads REQUIRED)

add_library(espalier_warnings INTERFACE)
target_compile_options(espalier_warnings INTERFACE
  $<$<CXX_COMPILER_ID:GNU,Clang>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>) # false alarms of GCC 12 on "text" + std::string

function(espalier_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(espalier_${name} STATIC ${arg_SOURCES})
  target_include_directories(espalier_${name} PUBLIC ${PROJECT_SOURCE_DIR}/engine)
  set_target_properties(espalier_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(espalier_${name} PUBLIC ${arg_PUBLIC} PRIVATE espalier_warnings ${arg_PRIVATE})
endfunction()

# espalier_test(NAME SOURCES ... LIBRARIES ... [LABELS ...] [TIMEOUT seconds])
# One Qt Test program. Labels: quick (default suite within 3 minutes), slow, gui, gpu.
# Under AddressSanitizer a crash must stay a crash, and an allocation that is too large be refused as it is without.
set(ESPALIER_ASAN_OPTIONS "ASAN_OPTIONS=allocator_may_return_null=1:handle_segv=0:handle_abort=0")

function(espalier_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES AUTOMOC ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE espalier_warnings ${arg_LIBRARIES} Qt6::Test)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT
    "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8;XDG_RUNTIME_DIR=${CMAKE_BINARY_DIR}/run;HOME=${CMAKE_BINARY_DIR}/home;OMP_NUM_THREADS=2;OMP_WAIT_POLICY=passive;${ESPALIER_ASAN_OPTIONS}")
endfunction()
