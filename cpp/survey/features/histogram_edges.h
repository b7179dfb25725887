// Where the bins of a histogram begin and end.
#pragma once

#include <cstddef>
#include <vector>

namespace recordsmith {

// The edges of a histogram of at most `most_bins` bins; two edges if all values are equal. Bins of whole numbers
// contain equally many of them, or some would look rare that are not: the last edge is then beyond the largest value.
std::vector<double> histogram_edges(double low, double high, bool is_integral, std::size_t most_bins);

}  // namespace recordsmith
