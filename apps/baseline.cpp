// SPDX-License-Identifier: Apache-2.0
#include "apps/baseline.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <numeric>

#include "tensor/error.h"

namespace moiety::apps {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

constexpr double kPenalties[] = {1e-4, 1e-2, 1.0, 1e2};

std::int64_t count_classes(const std::vector<std::int32_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{0});
}

/// Adds to `counts` (one per class, features stacked) the rows of categorical features.
void add_counts(const data::FeatureRows& rows, std::int64_t n,
                const std::vector<std::int32_t>& dims, double* counts) {
  for (std::int64_t i = 0; i < n; ++i) {
    double* of_feature = counts;
    for (std::size_t f = 0; f < dims.size(); ++f) {
      const auto at = i * static_cast<std::int64_t>(dims.size()) + static_cast<std::int64_t>(f);
      const std::int32_t value = rows.narrow ? rows.narrow[at] : rows.wide[at];
      of_feature[value] += 1.0;
      of_feature += dims[f];
    }
  }
}

/// [rows, classes + 2]: counts, size, and 1 for the intercept.
Matrix count_features(const data::Dataset& dataset, std::span<const std::int64_t> rows) {
  const data::FeatureSchema& schema = dataset.info().features;
  const std::int64_t atoms = count_classes(schema.atom_dims);
  const std::int64_t bonds = count_classes(schema.bond_dims);
  Matrix out = Matrix::Zero(static_cast<Eigen::Index>(rows.size()), atoms + bonds + 2);
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    const data::MoleculeView molecule = dataset.view(rows[static_cast<std::size_t>(i)]);
    add_counts(molecule.x, molecule.atoms, schema.atom_dims, out.row(i).data());
    add_counts(molecule.edge_attr, molecule.edges, schema.bond_dims, out.row(i).data() + atoms);
    out(i, atoms + bonds) = static_cast<double>(molecule.atoms);
    out(i, atoms + bonds + 1) = 1.0;
  }
  return out;
}

Vector target_column(const data::Dataset& dataset, std::span<const std::int64_t> rows,
                     std::size_t column) {
  Vector out(static_cast<Eigen::Index>(rows.size()));
  for (Eigen::Index i = 0; i < out.size(); ++i) {
    out[i] = dataset.targets(rows[static_cast<std::size_t>(i)])[column];
  }
  return out;
}

double mean_absolute_error(const Vector& prediction, const Vector& truth) {
  double sum = 0;
  double count = 0;
  for (Eigen::Index i = 0; i < truth.size(); ++i) {
    if (std::isnan(truth[i])) continue;
    sum += std::fabs(prediction[i] - truth[i]);
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

/// Weights of each penalty tried; the best on the validation split wins.
Vector fit_ridge(const Matrix& train_x, const Vector& train_y, const Matrix& valid_x,
                 const Vector& valid_y) {
  Vector weight = train_y.unaryExpr([](double y) { return std::isnan(y) ? 0.0 : 1.0; });
  const Vector known = train_y.unaryExpr([](double y) { return std::isnan(y) ? 0.0 : y; });
  const Matrix gram = train_x.transpose() * weight.asDiagonal() * train_x;
  const Vector moment = train_x.transpose() * known;
  Vector best;
  double best_error = std::numeric_limits<double>::infinity();
  for (const double penalty : kPenalties) {
    const Matrix regular = gram + penalty * Matrix::Identity(gram.rows(), gram.cols());
    const Vector solution = regular.ldlt().solve(moment);
    const double error = mean_absolute_error(valid_x * solution, valid_y);
    if (error < best_error || best.size() == 0) {
      best = solution;
      best_error = error;
    }
  }
  return best;
}

}  // namespace

Predictions ridge_on_counts(const data::Dataset& dataset, const std::vector<std::string>& targets,
                            std::span<const std::size_t> columns) {
  const auto train = dataset.split(data::Split::train);
  const auto valid = dataset.split(data::Split::valid);
  const auto test = dataset.split(data::Split::test);
  const Matrix train_x = count_features(dataset, train);
  const Matrix valid_x = count_features(dataset, valid);
  const Matrix test_x = count_features(dataset, test);
  const std::size_t width = columns.size();
  Predictions out;
  out.targets = targets;
  out.id.resize(test.size());
  out.smiles.resize(test.size());
  out.truth.resize(test.size() * width);
  out.prediction.resize(test.size() * width);
  for (std::size_t t = 0; t < width; ++t) {
    const Vector solution = fit_ridge(train_x, target_column(dataset, train, columns[t]), valid_x,
                                      target_column(dataset, valid, columns[t]));
    const Vector predicted = test_x * solution;
    const Vector truth = target_column(dataset, test, columns[t]);
    for (std::size_t m = 0; m < test.size(); ++m) {
      out.truth[m * width + t] = truth[static_cast<Eigen::Index>(m)];
      out.prediction[m * width + t] = predicted[static_cast<Eigen::Index>(m)];
    }
  }
  return out;
}

}  // namespace moiety::apps
