# Inner loops that are compiled for several instruction sets: a room's kernels_<set>.cpp, among which its kernels.cpp chooses at
# run time.

function(takt_compile_kernels room)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set_source_files_properties(${room}/kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
    set_source_files_properties(${room}/kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mfma")
  endif()
endfunction()
