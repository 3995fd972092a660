// Runs every registered kernel, for bench/callgrind.sh, which reads callgrind's counts.
#include "instructions.hpp"

int main() {
  for (const auto& [name, run] : takt::bench::Kernel::all()) {
    takt::bench::Counter counter(name);
    run(counter);
  }
}
