// The random bits of sketches. The same seed gives the same bits, so that facts are the same in every run.
#pragma once

#include <cstdint>

namespace recordsmith::survey {

// Begins the sequence of bits with this number, for the calling thread.
void seed_sketches(std::uint64_t seed);

}  // namespace recordsmith::survey
