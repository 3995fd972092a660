/* Uses the C API of an installed takt. */
#include <stdio.h>
#include <takt.h>

int main(void) {
  printf("takt %s: %s\n", takt_version(), takt_status_text(TAKT_ERROR_MOTION_VELOCITY_LIMIT));
  return takt_abi_version() >= TAKT_ABI_VERSION ? 0 : 1;
}
