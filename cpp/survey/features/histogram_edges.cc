#include "survey/features/histogram_edges.h"

#include <algorithm>
#include <cmath>

namespace recordsmith {

std::vector<double> histogram_edges(double low, double high, bool is_integral, std::size_t most_bins) {
  constexpr double kEveryWholeNumber = 9007199254740992.0;  // 2**53: a double has all of them up to here
  if (!(low < high)) return {low, high};
  std::vector<double> edges;
  if (is_integral && std::max(std::abs(low), std::abs(high)) < kEveryWholeNumber / 2) {
    const double numbers = high - low + 1;
    double best_width = 0;
    double least_beyond = 1;  // the share of the last bin that is beyond the largest value
    for (std::size_t bins = most_bins; bins >= most_bins / 2; --bins) {
      const double width = std::ceil(numbers / static_cast<double>(bins));
      const double beyond = (std::ceil(numbers / width) * width - numbers) / width;
      if (beyond < least_beyond) {
        best_width = width;
        least_beyond = beyond;
      }
    }
    for (double edge = low; edge <= high; edge += best_width) edges.push_back(edge);
    edges.push_back(edges.back() + best_width);
    return edges;
  }
  for (std::size_t i = 0; i < most_bins; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(most_bins);
    edges.push_back(low * (1 - part) + high * part);
  }
  edges.push_back(high);
  return edges;
}

}  // namespace recordsmith
