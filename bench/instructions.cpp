// Runs every registered kernel; meant to be run by bench/callgrind.sh, which reads what callgrind counted.
#include "instructions.hpp"

int main() {
  for (const auto& [name, run] : takt::bench::Kernel::all()) {
    takt::bench::Counter counter(name);
    run(counter);
  }
}
