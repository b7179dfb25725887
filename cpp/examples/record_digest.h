// Sixty-four bits that stand for a record's content.
//
// Rows with the same digest are kept in the same split. Two different rows that share one by chance (one pair in some
// billions of rows) are then kept together too, which harms nobody.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace recordsmith {

// The digest of a serialized Example or SequenceExample without the features named in `ignored`. A payload that is
// neither is digested whole.
std::uint64_t digest_record(const std::uint8_t* payload, std::size_t size, std::span<const std::string_view> ignored);

}  // namespace recordsmith
