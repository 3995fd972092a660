# The inner loops, one file for each instruction set; kernels.cpp chooses at run time. The definition tells the headers that
# there is something to choose from.
target_compile_definitions(takt_takt PUBLIC TAKT_COMPILED_KERNELS=1)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/kernels_avx2.cpp PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/kernels_avx512.cpp PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mfma")
endif()
