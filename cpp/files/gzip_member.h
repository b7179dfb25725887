// A member of a gzip file, and how long it is.
//
// A gzip file may have many members, one after the other; every reader of gzip reads them as one stream. Files that are
// written here have members of about 1 MiB of data each, all of whole records, so that they can be compressed and
// inflated in parallel, and records found without inflating everything before them. For that, the header of each has
// an extra field, as gzip allows (RFC 1952), which other readers skip:
//
//   1f 8b 08 04  00 00 00 00  00 ff     gzip, deflate, with extra fields; no time, unknown system
//   0c 00                               12 bytes of extra fields
//   'R' 'S'  08 00                      the one of 8 bytes that is described here
//   length   u32                        of the whole member, from 1f to the end of its trailer
//   records  u32                        how many records are in it
//   ...                                 deflate data
//   crc-32   u32, size u32              of the inflated data: gzip's trailer
//
// A member of 4 GiB or more has no extra field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/buffer_pool.h"
#include "base/status.h"

namespace recordsmith {

inline constexpr std::size_t kMemberHeaderBytes = 24;

struct GzipMember {
  PooledArray<std::uint8_t> bytes;
  std::size_t size = 0;
};

// Compresses some records as one member. The same data and level give the same bytes.
Status deflate_member(std::span<const std::uint8_t> data, std::uint64_t records, int level, GzipMember* member);

}  // namespace recordsmith
