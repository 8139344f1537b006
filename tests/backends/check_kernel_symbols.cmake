# cmake -DNM=nm -DOBJECTS="a.o;b.o" -P check_kernel_symbols.cmake
# The CPU kernels are compiled once for each instruction set. A weak symbol in one of them could replace the copy that an older
# processor needs: there must be none, but for those in the instruction set's own namespace, which no other object has.
# See engine/backends/cpu/kernels/kernels.h.
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} -C ${object} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM} cannot read ${object}")
  endif()
  string(REGEX MATCHALL "[^\n]* [WVu] [^\n]*" weak "${symbols}")
  list(FILTER weak EXCLUDE REGEX " espalier::cpu::(avx2|avx512)::")
  if(weak)
    list(JOIN weak "\n" weak)
    message(FATAL_ERROR "${object} has symbols that other code could share:\n${weak}")
  endif()
endforeach()
