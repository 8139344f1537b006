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
# One Qt Test program: its source, and others that it needs. Labels: quick (default suite within 3 minutes), slow, gui, gpu.
# Under AddressSanitizer a crash must stay a crash, and an allocation that is too large be refused as it is without.
set(ESPALIER_ASAN_OPTIONS "ASAN_OPTIONS=allocator_may_return_null=1:handle_segv=0:handle_abort=0")

# A test's own code is compiled once and run for seconds.
set(ESPALIER_TEST_OPTIONS $<$<AND:$<CXX_COMPILER_ID:GNU,Clang>,$<CONFIG:Release>>:-O1>)

function(espalier_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  # Called for the one file that needs it: CMake's AUTOMOC would read each program's sources anew at every build.
  list(GET arg_SOURCES 0 source)
  get_filename_component(moc ${source} NAME_WLE)
  qt6_generate_moc(${source} ${moc}.moc TARGET ${name})
  add_executable(${name} ${arg_SOURCES} ${CMAKE_CURRENT_BINARY_DIR}/${moc}.moc)
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${name} PRIVATE espalier_warnings ${arg_LIBRARIES} Qt6::Test)
  target_compile_options(${name} PRIVATE ${ESPALIER_TEST_OPTIONS})
  # Compiled headers fit where the same modules of Qt are named to the compiler.
  if(arg_LIBRARIES MATCHES "espalier_(app|widgets|watched_test)")
    if(NOT arg_LIBRARIES MATCHES "Qt6::Network")
      target_precompile_headers(${name} REUSE_FROM espalier_headers_window_tests)
    endif()
  else()
    target_compile_definitions(${name} PRIVATE QT_NO_KEYWORDS) # the engine has members named slots
    if(arg_LIBRARIES MATCHES "Qt6::Gui")
    elseif(arg_LIBRARIES MATCHES "espalier_(supervision|command_line)")
      target_precompile_headers(${name} REUSE_FROM espalier_headers_network_tests)
    else()
      target_precompile_headers(${name} REUSE_FROM espalier_headers_tests)
    endif()
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_LABELS)
    set(arg_LABELS quick)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(ESPALIER_SANITIZE) # it catches what hangs: a sanitizer on a busy machine is slow, and no fault
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT
    "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8;XDG_RUNTIME_DIR=${CMAKE_BINARY_DIR}/run;HOME=${CMAKE_BINARY_DIR}/home;OMP_NUM_THREADS=2;OMP_WAIT_POLICY=passive;${ESPALIER_ASAN_OPTIONS}")
endfunction()
