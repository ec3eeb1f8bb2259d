// einsum by decomposition: operands are contracted from left to right, each
// pair permuted and reshaped into one batch product.
#include <algorithm>
#include <string>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// A tensor whose dims are named by one character each.
struct Term {
  Value value;
  std::string labels;

  int64_t size(char label) const {
    return meta_of(value).size(static_cast<int64_t>(labels.find(label)));
  }
  bool has(char label) const { return labels.find(label) != labels.npos; }
};

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

// Labels that stand for the dims of "...": the i-th from the right is i.
std::string ellipsis_labels(int count) {
  std::string labels;
  for (int i = count; i > 0; --i) labels += static_cast<char>(i);
  return labels;
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (char c : text)
    if (c != ' ') result += c;
  return result;
}

std::string replaced_ellipsis(std::string labels, int count) {
  const size_t at = labels.find("...");
  if (at == labels.npos) return labels;
  return labels.replace(at, 3, ellipsis_labels(count));
}

int letters_in(const std::string& labels) {
  return static_cast<int>(std::count_if(labels.begin(), labels.end(),
                                        [](char c) { return c != '.'; }));
}

void check_labels(const std::string& labels) {
  for (char c : labels)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.'))
      runtime_error(
          "einsum(): invalid subscript given at index 0 in the equation "
          "string, subscripts must be in [a-zA-Z]");
}

// Labels used once, in alphabetical order, after the ellipsis.
std::string implicit_output(const std::vector<std::string>& inputs,
                            int ellipsis) {
  std::string all, output = ellipsis_labels(ellipsis);
  for (const std::string& labels : inputs) all += labels;
  std::sort(all.begin(), all.end());
  for (char c : all)
    if (c > kMaxRank && std::count(all.begin(), all.end(), c) == 1) output += c;
  return output;
}

Equation parse(std::string_view text, const ValueList& operands) {
  const std::string equation = without_blanks(text);
  const size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  Equation result;
  int widest = 0;
  for (size_t start = 0; start <= left.size();) {
    const size_t end = std::min(left.find(',', start), left.size());
    result.inputs.push_back(left.substr(start, end - start));
    start = end + 1;
  }
  if (result.inputs.size() != operands.size())
    runtime_error(
        "einsum(): ", result.inputs.size() > operands.size() ? "fewer" : "more",
        " operands were provided than specified in the equation");
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string& labels = result.inputs[i];
    check_labels(labels);
    const int rank = meta_of(operands[i]).dim();
    const int spare = rank - letters_in(labels);
    const bool dots = labels.find("...") != labels.npos;
    if (spare < 0 || (!dots && spare != 0))
      runtime_error("einsum(): the number of subscripts in the equation (",
                    letters_in(labels),
                    dots ? ") is more than the number of dimensions ("
                         : ") does not match the number of dimensions (",
                    rank, ") for operand ", i);
    labels = replaced_ellipsis(labels, spare);
    widest = std::max(widest, dots ? spare : 0);
  }
  result.output = arrow == equation.npos
                      ? implicit_output(result.inputs, widest)
                      : replaced_ellipsis(equation.substr(arrow + 2), widest);
  return result;
}

// Dims of a repeated label become one diagonal.
Term without_repeats(Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const char label = term.labels[i];
    const size_t other = term.labels.find(label, i + 1);
    if (other == term.labels.npos) continue;
    term.value = fxjit::diagonal(term.value, 0, i, other);
    term.labels.erase(other, 1);
    term.labels.erase(i, 1);
    term.labels += label;
    --i;
  }
  return term;
}

// Sums over the labels that are not in `kept`.
Term summed(Term term, const std::string& kept) {
  ValueList dims;
  std::string left;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (kept.find(term.labels[i]) == kept.npos)
      dims.push_back(i);
    else
      left += term.labels[i];
  }
  if (dims.empty()) return term;
  const DType dtype = meta_of(term.value).dtype();
  const Value total =
      fxjit::sum(term.value, Value::tuple(std::move(dims)), false, dtype);
  return {total, left};
}

// Dims in the order of `labels`; labels it lacks become dims of size 1.
Value arranged(const Term& term, const std::string& labels) {
  ValueList order;
  Value value = term.value;
  for (char label : labels)
    if (term.has(label)) order.push_back(term.labels.find(label));
  value = fxjit::permute(value, Value::tuple(std::move(order)));
  for (size_t i = 0; i < labels.size(); ++i)
    if (!term.has(labels[i])) value = fxjit::unsqueeze(value, i);
  return value;
}

int64_t common_size(const Term& a, const Term& b, char label) {
  const int64_t x = a.has(label) ? a.size(label) : 1;
  const int64_t y = b.has(label) ? b.size(label) : 1;
  if (x != y && x != 1 && y != 1)
    runtime_error(
        "einsum(): subscript ", std::string(1, label), " has size ", y,
        " for operand 1 which does not broadcast with previously seen size ",
        x);
  return x == 1 ? y : x;
}

struct Split {
  std::string batch, left, right, contracted;
};

Split split_labels(const Term& a, const Term& b, const std::string& kept) {
  Split split;
  for (char label : a.labels) {
    const bool stays = kept.find(label) != kept.npos;
    if (!b.has(label))
      split.left += label;
    else
      (stays ? split.batch : split.contracted) += label;
  }
  for (char label : b.labels)
    if (!a.has(label)) split.right += label;
  return split;
}

Dims sizes_of(const Term& a, const Term& b, const std::string& labels) {
  Dims sizes;
  for (char label : labels) sizes.push_back(common_size(a, b, label));
  return sizes;
}

// The term's dims as [batch, x, y], broadcast to the sizes of both operands.
Value as_batch(const Term& term, const Term& other, const std::string& batch,
               const std::string& x, const std::string& y) {
  const Dims batch_sizes = sizes_of(term, other, batch);
  const Dims whole = joined(joined(batch_sizes, sizes_of(term, other, x)),
                            sizes_of(term, other, y));
  const Value dims = fxjit::expand(arranged(term, batch + x + y), whole);
  return fxjit::reshape(
      dims, Dims{numel(batch_sizes), numel(sizes_of(term, other, x)),
                 numel(sizes_of(term, other, y))});
}

// Moves labels of b that stand before its contracted ones from the columns to
// the batch, so that b is read in its order in memory; `a` is the same for each
// of these batches. Not done if too few columns would be left for an efficient
// product.
void keep_in_place(const Term& a, const Term& b, Split& split) {
  constexpr int64_t kFewColumns = 16;
  const size_t first = b.labels.find_first_of(split.contracted);
  std::string in_front, rest;
  for (char label : split.right)
    (b.labels.find(label) < first ? in_front : rest) += label;
  if (in_front.empty() || numel(sizes_of(b, a, rest)) < kFewColumns) return;
  split.batch += in_front;
  split.right = rest;
}

// The product of terms that share no label to sum over, in the order of the
// larger one.
Term multiplied(const Term& a, const Term& b, const Split& split) {
  const bool first = meta_of(a.value).numel() >= meta_of(b.value).numel();
  const std::string labels =
      first ? a.labels + split.right : split.left + b.labels;
  sizes_of(a, b, labels);  // Whether they broadcast.
  return {arranged(a, labels) * arranged(b, labels), labels};
}

// The product of two terms with the labels in `kept` left.
Term contracted(Term a, Term b, const std::string& kept) {
  a = summed(a, kept + b.labels);
  b = summed(b, kept + a.labels);
  Split split = split_labels(a, b, kept);
  if (split.contracted.empty()) return multiplied(a, b, split);
  keep_in_place(a, b, split);
  const Dims sizes = sizes_of(a, b, split.batch + split.left + split.right);
  Value left = as_batch(a, b, split.batch, split.left, split.contracted);
  Value right = as_batch(b, a, split.batch, split.contracted, split.right);
  if (split.batch.empty()) {
    left = fxjit::squeeze(left, 0);
    right = fxjit::squeeze(right, 0);
  }
  const Value product = fxjit::matmul(left, right);
  return {fxjit::reshape(product, sizes),
          split.batch + split.left + split.right};
}

Value decompose_einsum(const OpCall& call) {
  const Value& first = call[1].size() > 0 ? call[1].at(0) : call[1];
  const ValueList operands =
      first.is_sequence() ? first.as_sequence() : call[1].as_sequence();
  if (operands.empty())
    runtime_error("einsum(): must provide at least one operand");
  const Equation equation = parse(call[0].as_string(), operands);
  Term result = without_repeats({operands[0], equation.inputs[0]});
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string kept = equation.output;
    for (size_t k = i + 1; k < operands.size(); ++k) kept += equation.inputs[k];
    result = contracted(
        result, without_repeats({operands[i], equation.inputs[i]}), kept);
  }
  result = summed(result, equation.output);
  for (char label : equation.output)
    if (!result.has(label))
      runtime_error("einsum(): output subscript ", std::string(1, label),
                    " does not appear in the equation for any input operand");
  return arranged(result, equation.output);
}

constexpr OpRow kEinsumRows[] = {
    composed_row("einsum", "equation, *operands", "torch.functional.einsum",
                 decompose_einsum)
        .stating(
            {.aliasing = Aliasing::operand, .native = NativeCalls::products}),
};

}  // namespace

std::span<const OpRow> einsum_rows() { return kEinsumRows; }

}  // namespace fxjit::ops
