// A planted mistake: the example of this header uses a name that takt does not have.
//
//     const Time now{};
//     return no_such_name(now);
#pragma once

#include "takt/core/time.hpp"
