if(TARGET takt_sodium)
  target_link_libraries(secure_channel_bench PRIVATE takt::sodium)
  target_compile_definitions(secure_channel_bench PRIVATE HAVE_SODIUM=1)
endif()
