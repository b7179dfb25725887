// Names the records of a finished survey by their files instead of their units.
#pragma once

#include <cstdint>
#include <vector>

#include "survey/facts/summary.h"

namespace recordsmith::survey {

struct UnitBegin {
  std::uint32_t file = 0;
  std::uint64_t records_before = 0;  // in the file
};

void name_by_file(const std::vector<UnitBegin>& units, Summary* summary);

}  // namespace recordsmith::survey
