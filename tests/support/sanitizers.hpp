// The sanitizer of this build; g++ and clang report it by different macros.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TAKT_ADDRESS_SANITIZED 1
#endif
#if __has_feature(thread_sanitizer)
#define TAKT_THREAD_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(TAKT_ADDRESS_SANITIZED)
#define TAKT_ADDRESS_SANITIZED 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(TAKT_THREAD_SANITIZED)
#define TAKT_THREAD_SANITIZED 1
#endif

#if defined(TAKT_ADDRESS_SANITIZED) || defined(TAKT_THREAD_SANITIZED)
#define TAKT_SANITIZED 1
#endif
