// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace moiety::apps {

/// The range of an axis and how it is cut.
struct Axis {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  std::string label = "";
};

/// Numbers at round places within the axis: 1, 2 or 5 times a power of ten apart, about `count`.
std::vector<double> tick_places(const Axis& axis, int count);

/// An axis that holds the finite values with a little room; where it may, and the values are
/// positive and spread over more than a decade, it is logarithmic.
Axis fit_axis(const std::vector<double>& values, bool may_be_logarithmic, std::string label);

/// The coordinates of a plot: values to pixels, grid lines, tick labels and axis titles.
class SvgFrame {
 public:
  SvgFrame(Axis x, Axis y, double width, double height);

  double x(double value) const;
  double y(double value) const;
  double left() const { return kLeft; }
  double right() const { return width_ - kRight; }
  double top() const { return kTop; }
  double bottom() const { return height_ - kBottom; }

  /// The SVG element with the frame drawn and `content` in it; `description` is read aloud.
  std::string wrap(const std::string& content, const std::string& description) const;

 private:
  static constexpr double kLeft = 62, kRight = 14, kTop = 10, kBottom = 44;

  std::string grid() const;

  Axis x_axis_;
  Axis y_axis_;
  double width_;
  double height_;
};

}  // namespace moiety::apps
