// SPDX-License-Identifier: Apache-2.0
#include "nn/state_dict.h"

#include <algorithm>
#include <map>
#include <set>

#include "autograd/grad_mode.h"
#include "autograd/ops/elementwise.h"
#include "autograd/ops/shape.h"

namespace moiety::nn {
namespace {

/// Whether a list has the name, or its beginning as an entry that ends in a dot.
bool lists(const std::vector<std::string>& entries, const std::string& name) {
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
    return entry.ends_with('.') ? name.starts_with(entry) : name == entry;
  });
}

/// The prefix that the state dict's names have.
std::string prefix_in(const Checkpoint& from, const StateDictNames& names) {
  const bool found = std::any_of(from.tensors.begin(), from.tensors.end(), [&](const auto& entry) {
    return entry.first.starts_with(names.prefix);
  });
  return found ? names.prefix : std::string();
}

/// Our parameters and buffers by name.
std::map<std::string, Tensor> tensors_of(const Module& model) {
  std::map<std::string, Tensor> out;
  for (const NamedParameter& p : model.named_parameters()) out.emplace(p.name, p.value.data());
  for (const NamedBuffer& b : model.named_buffers()) out.emplace(b.name, b.value);
  return out;
}

/// Rows of ours that tensor i of theirs makes up.
std::int64_t rows_of(const StateDictPlace& place, std::size_t i, std::int64_t all) {
  return place.rows.empty() ? all / static_cast<std::int64_t>(place.theirs.size()) : place.rows[i];
}

/// The shape that tensor i of those which make up ours has there.
Shape their_shape(const StateDictPlace& place, std::size_t i, const Shape& ours) {
  Shape out = ours;
  out[0] = rows_of(place, i, ours[0]) + place.unused_rows;
  if (place.transposed) std::swap(out[0], out[1]);
  return out;
}

/// Ours from theirs, whose shapes fit.
Tensor join(const StateDictPlace& place, const std::vector<Tensor>& theirs, DType dtype) {
  Variables parts;
  for (const Tensor& part : theirs) {
    Variable v = ops::cast(Variable(part), dtype);
    if (place.transposed) v = ops::transpose(v, 0, 1);
    parts.push_back(ops::slice(v, 0, place.unused_rows, v.size(0)));
  }
  return ops::concat(parts, 0).data();
}

/// The reverse.
std::vector<Tensor> take_apart(const StateDictPlace& place, const Tensor& ours) {
  std::vector<Tensor> out;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < place.theirs.size(); ++i) {
    const std::int64_t end = begin + rows_of(place, i, ours.size(0));
    Variable part = ops::slice(Variable(ours), 0, begin, end);
    begin = end;
    if (place.transposed) part = ops::transpose(part, 0, 1);
    if (place.unused_rows > 0) {
      const Shape unused{place.unused_rows, ours.size(1)};
      const Variable zeros(Tensor::zeros(unused, ours.dtype(), ours.device()));
      part = ops::concat({zeros, part}, 0);
    }
    out.push_back(part.data());
  }
  return out;
}

/// Reads the state dict and collects what does not fit.
class Import {
 public:
  Import(const Checkpoint& from, const StateDictNames& names)
      : from_(from), names_(names), prefix_(prefix_in(from, names)) {}

  void read(const StateDictPlace& place, const Tensor& ours) {
    std::vector<Tensor> parts;
    for (std::size_t i = 0; i < place.theirs.size(); ++i) {
      const std::string& name = place.theirs[i];
      const std::string full = (place.head ? "" : prefix_) + name;
      asked_.insert(full);
      const auto found = from_.tensors.find(full);
      if (found == from_.tensors.end()) {
        problems_.push_back(concat("\"", full, "\" is missing"));
      } else if (const Shape shape = their_shape(place, i, ours.shape());
                 found->second.shape() != shape || !is_floating(found->second.dtype())) {
        problems_.push_back(concat("\"", full, "\" is ", found->second.dtype(), " ",
                                   found->second.shape(), " instead of floating ", shape));
      } else {
        parts.push_back(found->second);
      }
    }
    if (parts.size() == place.theirs.size()) {
      read_.emplace_back(ours, join(place, parts, ours.dtype()));
    }
  }

  void read(const StateDictConstant& constant) {
    asked_.insert(constant.name);
    const auto found = from_.tensors.find(constant.name);
    if (found == from_.tensors.end() || constant.others_fit) return;
    const Tensor& there = found->second;
    if (there.shape() != constant.value.shape() || there.dtype() != constant.value.dtype()) {
      problems_.push_back(concat("\"", constant.name, "\" is ", there.dtype(), " ", there.shape(),
                                 " instead of ", constant.value.dtype(), " ",
                                 constant.value.shape()));
    } else if (there.item() != constant.value.item()) {
      problems_.push_back(concat("\"", constant.name, "\" is ", there.item(), ", and only ",
                                 constant.value.item(), " is to be had here"));
    }
  }

  void check_rest(ImportedPart part) {
    for (const auto& [name, tensor] : from_.tensors) {
      const bool passed_over = asked_.contains(name) || lists(names_.ignored, name) ||
                               (part == ImportedPart::body && lists(names_.heads, name));
      if (!passed_over) problems_.push_back(concat("\"", name, "\" is unexpected"));
    }
  }

  void write() const {
    std::string text;
    for (const std::string& problem : problems_) text += (text.empty() ? ": " : "; ") + problem;
    check<IoError>(problems_.empty(), from_.source(), " does not fit the model", text);
    for (const auto& [ours, value] : read_) ours.copy_from(value.to(ours.device()));
  }

 private:
  const Checkpoint& from_;
  const StateDictNames& names_;
  std::string prefix_;
  std::set<std::string> asked_;
  std::vector<std::string> problems_;
  std::vector<std::pair<Tensor, Tensor>> read_;
};

}  // namespace

void import_state_dict(const Checkpoint& from, const StateDictNames& names, const Module& model,
                       ImportedPart part) {
  const autograd::NoGrad no_grad;
  const std::map<std::string, Tensor> ours = tensors_of(model);
  Import state(from, names);
  for (const StateDictPlace& place : names.places) {
    if (place.head && part == ImportedPart::body) continue;
    const auto found = ours.find(place.ours);
    MOIETY_CHECK(found != ours.end(), "the model has no \"", place.ours, "\"");
    state.read(place, found->second);
  }
  for (const StateDictConstant& constant : names.constants) state.read(constant);
  state.check_rest(part);
  state.write();
}

Checkpoint export_state_dict(const std::vector<NamedTensor>& tensors, const StateDictNames& names) {
  const autograd::NoGrad no_grad;
  std::map<std::string, Tensor> ours;
  for (const NamedTensor& t : tensors) ours.emplace(t.name, t.value);
  check(ours.size() == names.places.size(), "export: ", ours.size(), " tensors for ",
        names.places.size(), " places");
  Checkpoint out;
  out.set_string("format", "pt");  // what from_pretrained asks for
  for (const StateDictPlace& place : names.places) {
    const auto found = ours.find(place.ours);
    check(found != ours.end(), "export: there is no \"", place.ours, "\"");
    const std::vector<Tensor> theirs = take_apart(place, found->second);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      out.tensors.emplace((place.head ? "" : names.prefix) + place.theirs[i], theirs[i]);
    }
  }
  for (const StateDictConstant& constant : names.constants) {
    out.tensors.emplace(constant.name, constant.value);
  }
  return out;
}

Checkpoint export_state_dict(const Module& model, const StateDictNames& names) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, value] : tensors_of(model)) tensors.push_back({name, value});
  return export_state_dict(tensors, names);
}

}  // namespace moiety::nn
