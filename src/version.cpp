// The library is never an empty archive: this file holds its version for those who load it at run time.
#include "takt/version.hpp"

namespace takt {
const char* version() noexcept;
const char* version() noexcept { return TAKT_VERSION; }
}  // namespace takt
