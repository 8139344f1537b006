# cmake -DNM=nm -DPLUGIN=libespalier-cuda.so -DENTRY=function -P check_plugin_symbols.cmake
# A plug-in carries static libraries of the engine, of which the program that opens it has its own: none of their symbols may be
# seen from outside. See engine/backends/cuda/exports.map.
execute_process(COMMAND ${NM} -D --defined-only ${PLUGIN} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
string(REGEX REPLACE "[0-9a-f]+ " "" symbols "${symbols}")
string(STRIP "${symbols}" symbols)
if(failed OR NOT symbols STREQUAL "T ${ENTRY}")
  message(FATAL_ERROR "${PLUGIN} should export ${ENTRY} alone, but has:\n${symbols}")
endif()
