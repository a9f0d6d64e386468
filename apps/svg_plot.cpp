// SPDX-License-Identifier: Apache-2.0
#include "apps/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "apps/html.h"
#include "apps/svg_frame.h"

namespace moiety::apps {
namespace {

constexpr double kWidth = 480, kHeight = 290, kSquare = 460;
constexpr std::size_t kColors = 8, kMostCurvePoints = 1000, kMostHoverPoints = 120;
constexpr int kHistogramBins = 41;
constexpr std::size_t kDensityBins = 84;
constexpr std::size_t kDensityLevels = 6;

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} ({})", name, unit);
}

/// The finite points of a curve, thinned evenly; the last one stays.
Series drawable(const Series& series) {
  Series finite{series.name, {}, {}};
  const std::size_t stride = series.x.size() / kMostCurvePoints + 1;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (i % stride != 0 && i + 1 != series.x.size()) continue;
    if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
    finite.x.push_back(series.x[i]);
    finite.y.push_back(series.y[i]);
  }
  return finite;
}

std::string draw_curve(const SvgFrame& frame, const Series& series, std::size_t color) {
  std::string path;
  std::string points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = frame.x(series.x[i]), y = frame.y(series.y[i]);
    path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x, y);
    if (series.x.size() > kMostHoverPoints) continue;
    points += fmt::format(
        "<circle class=\"hover\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}: {} at {}</title>"
        "</circle>",
        x, y, escape_html(series.name), format_figure(series.y[i]), format_figure(series.x[i]));
  }
  return fmt::format("<path class=\"curve\" style=\"stroke:var(--s{})\" d=\"{}\"/>{}",
                     color % kColors, path, points);
}

std::string legend(const std::vector<Series>& series) {
  if (series.size() < 2) return "";
  std::string items;
  for (std::size_t i = 0; i < series.size(); ++i) {
    items += fmt::format("<span><i style=\"background:var(--s{})\"></i>{}</span>", i % kColors,
                         escape_html(series[i].name));
  }
  return fmt::format("<div class=\"legend\">{}</div>\n", items);
}

std::string draw_points(const SvgFrame& frame, const std::vector<double>& truth,
                        const std::vector<double>& prediction) {
  // Lines of no length with round ends: a point costs a dozen bytes.
  std::string path;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    path += fmt::format("M{:.1f} {:.1f}h0", frame.x(truth[i]), frame.y(prediction[i]));
  }
  return fmt::format("<path class=\"dots\" d=\"{}\"/>", path);
}

/// [kDensityBins * kDensityBins] points in each square of the frame, rows from the top.
std::vector<std::int64_t> count_squares(const SvgFrame& frame, const std::vector<double>& truth,
                                        const std::vector<double>& prediction, double side) {
  std::vector<std::int64_t> counts(kDensityBins * kDensityBins);
  const auto bin = [&](double offset) {
    const double number = std::clamp(offset / side, 0.0, static_cast<double>(kDensityBins - 1));
    return static_cast<std::size_t>(number);
  };
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::size_t column = bin(frame.x(truth[i]) - frame.left());
    const std::size_t row = bin(frame.y(prediction[i]) - frame.top());
    ++counts[row * kDensityBins + column];
  }
  return counts;
}

/// One path a shade: the number of points on a logarithmic scale.
std::string draw_density(const SvgFrame& frame, const std::vector<double>& truth,
                         const std::vector<double>& prediction) {
  const double side = (frame.right() - frame.left()) / static_cast<double>(kDensityBins);
  const std::vector<std::int64_t> counts = count_squares(frame, truth, prediction, side);
  const double most = std::log1p(static_cast<double>(*std::ranges::max_element(counts)));
  std::array<std::string, kDensityLevels> paths;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double share = std::log1p(static_cast<double>(counts[i])) / most;
    const auto level = static_cast<std::size_t>(std::ceil(share * kDensityLevels)) - 1;
    const double x = frame.left() + side * static_cast<double>(i % kDensityBins);
    const double y = frame.top() + side * static_cast<double>(i / kDensityBins);
    paths[std::min(level, kDensityLevels - 1)] +=
        fmt::format("M{:.1f} {:.1f}h{:.2f}v{:.2f}h-{:.2f}z", x, y, side, side, side);
  }
  std::string content;
  for (std::size_t level = 0; level < kDensityLevels; ++level) {
    const double opacity = static_cast<double>(level + 1) / kDensityLevels;
    content += fmt::format("<path class=\"density\" fill-opacity=\"{:.2f}\" d=\"{}\"/>", opacity,
                           paths[level]);
  }
  return content;
}

/// A distance from 0 within which 99 % of the values lie.
double most_of(const std::vector<double>& errors) {
  std::vector<double> sizes;
  for (const double error : errors) sizes.push_back(std::abs(error));
  if (sizes.empty()) return 1;
  const auto rank = static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(sizes.size() - 1));
  std::ranges::nth_element(sizes, sizes.begin() + rank);
  return std::max(sizes[static_cast<std::size_t>(rank)], 1e-12);
}

}  // namespace

std::string line_plot(const std::vector<Series>& series, const std::string& x_label,
                      const std::string& y_label) {
  std::vector<Series> drawn;
  std::vector<double> xs, ys;
  for (const Series& one : series) {
    drawn.push_back(drawable(one));
    xs.insert(xs.end(), drawn.back().x.begin(), drawn.back().x.end());
    ys.insert(ys.end(), drawn.back().y.begin(), drawn.back().y.end());
  }
  const SvgFrame frame(fit_axis(xs, false, x_label), fit_axis(ys, true, y_label), kWidth, kHeight);
  std::string content;
  for (std::size_t i = 0; i < drawn.size(); ++i) content += draw_curve(frame, drawn[i], i);
  return legend(series) + frame.wrap(content, y_label + " against " + x_label);
}

std::string parity_plot(const std::vector<double>& truth, const std::vector<double>& prediction,
                        const std::string& unit) {
  std::vector<double> both = truth;
  both.insert(both.end(), prediction.begin(), prediction.end());
  Axis x = fit_axis(both, false, with_unit("truth", unit));
  Axis y = x;
  y.label = with_unit("prediction", unit);
  const SvgFrame frame(x, y, kSquare, kSquare);
  const std::string diagonal =
      fmt::format("<path class=\"guide\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", frame.left(),
                  frame.bottom(), frame.right(), frame.top());
  const std::string marks = truth.size() > kMostPoints ? draw_density(frame, truth, prediction)
                                                       : draw_points(frame, truth, prediction);
  return frame.wrap(marks + diagonal, "predictions against truth");
}

std::string error_histogram(const std::vector<double>& errors, const std::string& unit) {
  const double reach = most_of(errors);
  const double width = 2 * reach / kHistogramBins;
  std::vector<double> counts(kHistogramBins);
  for (const double error : errors) {
    const double bin = std::clamp((error + reach) / width, 0.0, kHistogramBins - 1.0);
    ++counts[static_cast<std::size_t>(bin)];
  }
  const double most = std::max(1.0, *std::ranges::max_element(counts));
  const SvgFrame frame({-reach, reach, false, with_unit("prediction - truth", unit)},
                       {0, 1.05 * most, false, "molecules"}, kSquare, kSquare);
  std::string path;
  for (int i = 0; i < kHistogramBins; ++i) {
    const double x = frame.x(-reach + i * width), next = frame.x(-reach + (i + 1) * width);
    path += fmt::format("M{:.1f} {:.1f}V{:.1f}H{:.1f}V{:.1f}z", x + 0.5, frame.bottom(),
                        frame.y(counts[static_cast<std::size_t>(i)]), next - 0.5, frame.bottom());
  }
  const std::string zero = fmt::format("<path class=\"guide\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>",
                                       frame.x(0), frame.top(), frame.bottom());
  return frame.wrap(fmt::format("<path class=\"columns\" d=\"{}\"/>", path) + zero,
                    "histogram of the errors");
}

}  // namespace moiety::apps
