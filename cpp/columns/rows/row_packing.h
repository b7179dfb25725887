// Which of several sequences share a row of a given capacity.
//
// First fit puts each sequence, in the order in which they come, into the first row that has room for it. A tree of the
// largest room below each node finds that row in logarithmic time. Best fit takes the longest sequences first and the
// row with the least room that is enough; of equals, the earlier one. Neither depends on anything but the lengths.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace recordsmith {

// The rows are numbered from 0 in the order in which they are opened. Lengths are from 0 to `capacity`.
inline std::vector<std::int64_t> rows_of_first_fit(std::span<const std::int64_t> lengths, std::int64_t capacity) {
  std::size_t leaves = 1;
  while (leaves < lengths.size()) leaves *= 2;
  std::vector<std::int64_t> room(2 * leaves, capacity);  // rows that are not opened yet have all of it
  std::vector<std::int64_t> rows;
  rows.reserve(lengths.size());
  for (const std::int64_t length : lengths) {
    std::size_t node = 1;
    while (node < leaves) node = room[2 * node] >= length ? 2 * node : 2 * node + 1;
    rows.push_back(static_cast<std::int64_t>(node - leaves));
    room[node] -= length;
    for (node /= 2; node > 0; node /= 2) room[node] = std::max(room[2 * node], room[2 * node + 1]);
  }
  return rows;
}

inline std::vector<std::int64_t> rows_of_best_fit(std::span<const std::int64_t> lengths, std::int64_t capacity) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::set<std::pair<std::int64_t, std::int64_t>> open;  // room, and row
  std::vector<std::int64_t> rows(lengths.size());
  std::int64_t count = 0;
  for (const std::size_t one : order) {
    auto found = open.lower_bound({lengths[one], 0});
    const auto [room, row] = found == open.end() ? std::pair{capacity, count++} : *found;
    if (found != open.end()) open.erase(found);
    rows[one] = row;
    open.insert({room - lengths[one], row});
  }
  return rows;
}

// Pieces of sequences in the order in which they fill the rows: where each starts, how long it is, and its row.
struct PackedPieces {
  std::span<const std::int64_t> starts;
  std::span<const std::int64_t> sizes;
  std::span<const std::int64_t> rows;

  // Whether there are values for all of them, and room in so many rows of a length.
  bool fit(std::size_t values, std::size_t row_count, std::size_t length) const {
    if (sizes.size() != starts.size() || rows.size() != starts.size()) return false;
    std::uint64_t filled = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto start = static_cast<std::uint64_t>(starts[i]), size = static_cast<std::uint64_t>(sizes[i]);
      if (start > values || size > values - start || size > length) return false;
      if (static_cast<std::uint64_t>(rows[i]) >= row_count || (i > 0 && rows[i] < rows[i - 1])) return false;
      filled = i > 0 && rows[i] == rows[i - 1] ? filled + size : size;
      if (filled > length) return false;
    }
    return true;
  }

  // Calls `put(piece, place of its first item, number of the piece in its row)`, and `fill(from, to)` for what is left.
  template <typename Put, typename Fill>
  void place(std::size_t row_count, std::size_t length, Put put, Fill fill) const {
    std::size_t piece = 0;
    for (std::size_t row = 0; row < row_count; ++row) {
      std::size_t at = row * length;
      for (std::int32_t number = 1; piece < rows.size() && static_cast<std::size_t>(rows[piece]) == row; ++piece) {
        put(piece, at, number++);
        at += static_cast<std::size_t>(sizes[piece]);
      }
      fill(at, (row + 1) * length);
    }
  }
};

}  // namespace recordsmith
