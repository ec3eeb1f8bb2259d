# libfxjit.so exports its own names only: neither LLVM's nor a helper's may meet
# those of a host process. The boxes that make programs stay inside, too: a name of
# theirs that is exported keeps code in the library that nothing calls. Run by ctest
# as cmake -DNM=... -DLIBRARY=... -P.
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY}
  OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} could not read ${LIBRARY}")
endif()
string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
list(LENGTH lines count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} symbols are shown: ${symbols}")
endif()
foreach(line IN LISTS lines)
  if(NOT line MATCHES "5fxjit| fxjit_")
    message(FATAL_ERROR "shown, but not ours: ${line}")
  endif()
  if(line MATCHES "5fxjit(3jit|6passes|7program|7kernels|7weights|4bind)")
    message(FATAL_ERROR "exported, but no part of the interface: ${line}")
  endif()
endforeach()
message(STATUS "${count} symbols, all ours")
