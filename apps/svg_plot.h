// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace moiety::apps {

/// A curve; points that are not finite are left out.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

/// Curves over each other with a legend (where there are several) above the SVG. Of long curves
/// about a thousand points are drawn.
std::string line_plot(const std::vector<Series>& series, const std::string& x_label,
                      const std::string& y_label);

/// Prediction against truth with the diagonal: points, or above kMostPoints of them the number of
/// molecules in small squares. `unit` may be empty.
std::string parity_plot(const std::vector<double>& truth, const std::vector<double>& prediction,
                        const std::string& unit);
inline constexpr std::size_t kMostPoints = 2500;

/// Numbers of values in equal intervals around 0 that hold 99 % of them; the rest counts in the
/// outermost ones.
std::string error_histogram(const std::vector<double>& errors, const std::string& unit);

}  // namespace moiety::apps
