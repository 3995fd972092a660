# The target docs: a site of the READMEs, the pages of cmake/docs, and the reference of all public headers. It is built in
# build/<preset>/docs/html. doxygen's warnings and links that lead nowhere are errors. Without doxygen there is no such target.
find_package(Doxygen 1.9.4 QUIET)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT DOXYGEN_FOUND OR NOT Python3_FOUND)
  return()
endif()

set(takt_docs_dir ${PROJECT_BINARY_DIR}/docs)
configure_file(${CMAKE_CURRENT_LIST_DIR}/docs/Doxyfile.in ${takt_docs_dir}/Doxyfile @ONLY)
add_custom_target(docs
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/docs/gather.py ${PROJECT_SOURCE_DIR} ${takt_docs_dir}
          ${PROJECT_SOURCE_DIR}/build/bench/ratios.json
  COMMAND Doxygen::doxygen ${takt_docs_dir}/Doxyfile
  COMMAND ${CMAKE_COMMAND} -E echo "Open ${takt_docs_dir}/html/index.html"
  COMMENT "Writing the site"
  VERBATIM)
