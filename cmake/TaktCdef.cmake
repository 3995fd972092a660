# Writes takt.cdef: the declarations of takt.h for parsers without a preprocessor, such as LuaJIT's ffi.cdef() and Python's cffi.
# It has neither comments nor directives; macros that are numbers become enumerators.
#
#   cmake -DCOMPILER=c++ -DHEADERS=capi/include -DOUTPUT=takt.cdef -P TaktCdef.cmake

# Those parsers know the types of the standard headers. Empty headers keep their declarations out.
set(no_std_headers ${OUTPUT}.std)
file(WRITE ${no_std_headers}/stddef.h "")
file(WRITE ${no_std_headers}/stdint.h "")

function(preprocess result)
  execute_process(COMMAND ${COMPILER} -x c -E -undef -nostdinc -isystem ${no_std_headers} -I ${HEADERS} ${ARGN} ${HEADERS}/takt.h
                  OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

preprocess(macros -dM)
preprocess(declarations -P)

set(constants)
string(REGEX MATCHALL "#define TAKT_[A-Z0-9_]+ [0-9]+\n" macros "${macros}")
list(SORT macros)
foreach(macro IN LISTS macros)
  string(REGEX REPLACE "#define ([A-Z0-9_]+) ([0-9]+)\n" "  \\1 = \\2,\n" macro "${macro}")
  string(APPEND constants "${macro}")
endforeach()
string(REGEX REPLACE ",\n$" "\n" constants "${constants}")

# One indentation for what the preprocessor leaves of the columns.
string(REGEX REPLACE "\n +" "\n  " declarations "${declarations}")

file(WRITE ${OUTPUT} "enum {\n${constants}};\n${declarations}")
file(REMOVE_RECURSE ${no_std_headers})
