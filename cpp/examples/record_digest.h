// A digest of 64 bits of a record's content.
//
// Rows with the same digest are put into the same split. Two different rows that have the same digest by chance (one
// pair in some billions of rows) are then put into the same split too, which does no harm.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace recordsmith {

// The digest of a serialized Example or SequenceExample without the features named in `ignored`. Of a payload that is
// neither, all bytes are digested.
std::uint64_t digest_record(const std::uint8_t* payload, std::size_t size, std::span<const std::string_view> ignored);

}  // namespace recordsmith
