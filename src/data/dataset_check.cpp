// SPDX-License-Identifier: Apache-2.0
#include "data/dataset_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tensor/error.h"

namespace moiety::data::problem {
namespace {

using Problem = std::optional<std::string>;

/// HDF5 keeps an attribute in the 64 KiB of an object header; a text there takes 16 bytes.
constexpr std::size_t kMaxTargets = 2048;
constexpr std::size_t kMaxColumns = 2048;
constexpr std::int32_t kMaxClasses = 1 << 24;

template <class T>
Problem with_classes_of(const T* values, std::int64_t rows, std::span<const std::int32_t> dims) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int32_t classes : dims) {
      const auto value = static_cast<std::uint32_t>(*values++);
      if (value >= static_cast<std::uint32_t>(classes)) [[unlikely]] {
        return concat("row ", row, " holds class ", static_cast<std::int32_t>(value), " of ",
                      classes);
      }
    }
  }
  return {};
}

Problem with_length(const char* name, std::size_t length, std::size_t expected) {
  if (length == expected) return {};
  return concat(name, " has ", length, " values instead of ", expected);
}

Problem with_text(const char* name, const std::string& text) {
  if (text.find('\0') == std::string::npos) return {};
  return concat(name, " contains a zero byte");
}

Problem with_dims(const char* name, std::span<const std::int32_t> dims) {
  if (dims.size() > kMaxColumns) return concat(name, ": more than ", kMaxColumns, " columns");
  for (const std::int32_t classes : dims) {
    if (classes < 1 || classes > kMaxClasses) {
      return concat(name, ": ", classes, " classes (1 to ", kMaxClasses, " are possible)");
    }
  }
  return {};
}

/// The first of several problems, with the name of where it is.
Problem first(std::initializer_list<Problem> problems) {
  for (const Problem& problem : problems) {
    if (problem) return problem;
  }
  return {};
}

Problem prefixed(const char* name, const Problem& problem) {
  return problem ? Problem(concat(name, ": ", *problem)) : problem;
}

}  // namespace

Problem with_pointers(std::span<const std::int64_t> pointers, std::int64_t total) {
  if (pointers.empty() || pointers.front() != 0) return "does not begin with 0";
  for (std::size_t i = 1; i < pointers.size(); ++i) {
    const std::int64_t length = pointers[i] - pointers[i - 1];
    if (pointers[i] < pointers[i - 1] || pointers[i] > total) {
      return concat("entry ", i, " is ", pointers[i], " after ", pointers[i - 1], ", of ", total);
    }
    if (length > std::numeric_limits<std::int32_t>::max()) {
      return concat("molecule ", i - 1, " is too large: ", length);
    }
  }
  if (pointers.back() != total) return concat("ends with ", pointers.back(), ", not ", total);
  return {};
}

Problem with_classes(const FeatureRows& values, std::int64_t rows,
                     std::span<const std::int32_t> dims) {
  return values.narrow ? with_classes_of(values.narrow, rows, dims)
                       : with_classes_of(values.wide, rows, dims);
}

Problem with_edges(std::span<const std::int32_t> src, std::span<const std::int32_t> dst,
                   std::int64_t atoms) {
  std::int32_t before = 0;
  for (std::size_t e = 0; e < dst.size(); ++e) {
    if (src[e] < 0 || src[e] >= atoms || dst[e] < 0 || dst[e] >= atoms) {
      return concat("edge ", e, " goes from ", src[e], " to ", dst[e], " in a molecule of ", atoms,
                    " atoms");
    }
    if (dst[e] < before) return concat("edge ", e, " is not in order of its destination");
    before = dst[e];
  }
  return {};
}

Problem with_splits(std::span<const std::int64_t> train, std::span<const std::int64_t> valid,
                    std::span<const std::int64_t> test, std::int64_t molecules) {
  std::vector<bool> taken(static_cast<std::size_t>(molecules));
  for (const auto split : {train, valid, test}) {
    for (const std::int64_t row : split) {
      if (row < 0 || row >= molecules) {
        return concat("row ", row, " of a split is out of range: there are ", molecules,
                      " molecules");
      }
      if (taken[static_cast<std::size_t>(row)]) return concat("row ", row, " is split twice");
      taken[static_cast<std::size_t>(row)] = true;
    }
  }
  return {};
}

Problem with_tokens(std::span<const std::int64_t> pointers, std::span<const std::int32_t> ids,
                    std::int64_t vocabulary) {
  for (std::size_t m = 1; m < pointers.size(); ++m) {
    if (pointers[m] == pointers[m - 1]) return concat("molecule ", m - 1, " has no tokens");
  }
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || ids[t] >= vocabulary) [[unlikely]] {
      return concat("token ", t, " has the id ", ids[t], " in a vocabulary of ", vocabulary);
    }
  }
  return {};
}

Problem with_targets(std::span<const double> values, std::span<const TargetSpec> targets) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double y = values[i];
    const TargetSpec& target = targets[i % targets.size()];
    if (std::isinf(y)) return concat("target ", target.name, " is infinite");
    const bool classes = target.task != "regression";
    if (classes && !std::isnan(y) && y != 0 && y != 1) {
      return concat("target ", target.name, " is ", y, ", neither 0 nor 1");
    }
  }
  return {};
}

Problem with_schema(const FeatureSchema& features, std::span<const TargetSpec> targets) {
  if (features.atom_dims.empty() && !features.bond_dims.empty()) {
    return "the featuriser has no atom columns";
  }
  if (targets.size() > kMaxTargets) return concat("more than ", kMaxTargets, " targets");
  if (auto bad = first({with_text("featuriser", features.featuriser),
                        with_dims("atom_dims", features.atom_dims),
                        with_dims("bond_dims", features.bond_dims)})) {
    return bad;
  }
  constexpr std::array<const char*, 3> kTasks = {"regression", "binary", "multilabel"};
  for (const TargetSpec& target : targets) {
    if (target.name.empty()) return "a target has no name";
    if (std::ranges::find(kTasks, target.task) == kTasks.end()) {
      return concat("target ", target.name, ": unknown task '", target.task, "'");
    }
    if (auto bad =
            first({with_text("target name", target.name), with_text("target unit", target.unit)})) {
      return bad;
    }
  }
  return {};
}

Problem with_molecule(const MoleculeRecord& molecule, const FeatureSchema& features,
                      std::span<const TargetSpec> targets, bool positions) {
  const std::size_t atoms = molecule.z.size();
  const std::size_t edges = molecule.edge_src.size();
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max();
  if (atoms > kMost || edges > kMost) return concat("too large: ", atoms, " atoms");
  if (features.atom_dims.empty() && atoms > 0) return "a graph where there are tokens alone";
  if (auto bad = first(
          {with_length("x", molecule.x.size(), atoms * features.atom_dims.size()),
           with_length("pos", molecule.pos.size(), positions ? 3 * atoms : 0),
           with_length("edge_dst", molecule.edge_dst.size(), edges),
           with_length("edge_attr", molecule.edge_attr.size(), edges * features.bond_dims.size()),
           with_length("y", molecule.y.size(), targets.size()),
           with_text("SMILES", molecule.smiles), with_text("id", molecule.id)})) {
    return bad;
  }
  return first(
      {with_targets(molecule.y, targets),
       prefixed("x", with_classes({nullptr, molecule.x.data()}, static_cast<std::int64_t>(atoms),
                                  features.atom_dims)),
       prefixed("edge_attr", with_classes({nullptr, molecule.edge_attr.data()},
                                          static_cast<std::int64_t>(edges), features.bond_dims)),
       with_edges(molecule.edge_src, molecule.edge_dst, static_cast<std::int64_t>(atoms))});
}

}  // namespace moiety::data::problem
