# Looked for by CMake, not by the preprocessor: a peer that is installed later makes this benchmark be compiled again.
find_path(BOOST_LOCKFREE_INCLUDE_DIR boost/lockfree/spsc_queue.hpp)
find_path(READERWRITERQUEUE_INCLUDE_DIR readerwriterqueue/readerwriterqueue.h)
target_compile_definitions(shm_bench PRIVATE $<$<BOOL:${BOOST_LOCKFREE_INCLUDE_DIR}>:HAVE_BOOST=1>
                                             $<$<BOOL:${READERWRITERQUEUE_INCLUDE_DIR}>:HAVE_MOODYCAMEL=1>)
