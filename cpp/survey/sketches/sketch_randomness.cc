#include "survey/sketches/sketch_randomness.h"

#include "base/permutation.h"
#include "base/thread_memory.h"

namespace recordsmith::survey {
namespace {

RECORDSMITH_THREAD_MEMORY thread_local std::uint64_t next_number = 0;

}  // namespace

// Seeds are far apart, so that their sequences do not overlap.
void seed_sketches(std::uint64_t seed) { next_number = mix64(seed); }

}  // namespace recordsmith::survey

namespace datasketches {

std::uint32_t random_bit();  // which their headers leave to us
std::uint32_t random_bit() {
  return static_cast<std::uint32_t>(recordsmith::mix64(recordsmith::survey::next_number++) >> 63);
}

}  // namespace datasketches
