#include "survey/facts/expectations.h"

#include <algorithm>
#include <iterator>

namespace recordsmith::survey {

std::optional<RawNumbers> raw_numbers_of(std::string part, std::string_view dtype, std::size_t offset,
                                         std::int64_t count) {
  struct Dtype {
    std::string_view name;
    RawType type;
    std::int64_t numbers = 1;
  };
  static constexpr Dtype kDtypes[] = {
      {"bool", RawType::kBool},          {"int8", RawType::kInt8},
      {"int16", RawType::kInt16},        {"int32", RawType::kInt32},
      {"int64", RawType::kInt64},        {"uint8", RawType::kUint8},
      {"uint16", RawType::kUint16},      {"uint32", RawType::kUint32},
      {"uint64", RawType::kUint64},      {"float16", RawType::kHalf},
      {"float32", RawType::kFloat},      {"float64", RawType::kDouble},
      {"complex64", RawType::kFloat, 2}, {"complex128", RawType::kDouble, 2},
  };
  const auto* const known =
      std::find_if(std::begin(kDtypes), std::end(kDtypes), [&](const Dtype& one) { return one.name == dtype; });
  if (known == std::end(kDtypes)) return std::nullopt;
  return RawNumbers{std::move(part), known->type, offset, count < 0 ? -1 : count * known->numbers};
}

}  // namespace recordsmith::survey
