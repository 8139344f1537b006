# espalier_headers(NAME LIBRARIES ... [DEFINITIONS ...] HEADERS ...)
# Headers that many programs of one file include, compiled once: target_precompile_headers(TARGET REUSE_FROM espalier_headers_NAME).
# They spare no file its own includes: the debug preset builds without them.
function(espalier_headers name)
  cmake_parse_arguments(arg "" "" "LIBRARIES;DEFINITIONS;HEADERS" ${ARGN})
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers_${name}.cpp CONTENT "// Holds the compiled headers.\n")
  add_library(espalier_headers_${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/headers_${name}.cpp)
  set_target_properties(espalier_headers_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON AUTOMOC OFF)
  target_link_libraries(espalier_headers_${name} PRIVATE espalier_warnings ${arg_LIBRARIES})
  target_compile_definitions(espalier_headers_${name} PRIVATE ${arg_DEFINITIONS})
  target_compile_options(espalier_headers_${name} PRIVATE ${ESPALIER_TEST_OPTIONS})
  target_precompile_headers(espalier_headers_${name} PRIVATE ${arg_HEADERS})
endfunction()
