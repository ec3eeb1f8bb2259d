// Products of matrices.
#include <algorithm>
#include <cctype>
#include <map>

#include "src/import/onnx/ops/families.h"

namespace fxjit::onnx {
namespace {

Results gemm(Call& call) {
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  const Value a = call.flag("transA", false) ? t(call[0]) : call[0];
  const bool turned = call.flag("transB", false);
  const bool plain = alpha == 1 && beta == 1;
  if (plain && (!call.has(2) || call.rank(2) == 1))
    return nn::functional::linear(a, turned ? call[1] : t(call[1]),
                                  call.optional(2));
  Value product = matmul(a, turned ? t(call[1]) : call[1]);
  if (alpha != 1) product = product * alpha;
  if (!call.has(2)) return cast(call, product, call.dtype(0));
  const Value c = beta == 1 ? call[2] : call[2] * beta;
  return cast(call, product + c, call.dtype(0));
}

// One operand of an equation: its letters, and how many of them stand in front
// of "...", where that is there.
struct Term {
  std::string letters;
  std::optional<size_t> open;
};

Term read_term(const Call& call, std::string_view text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      term.letters += text[i];
      continue;
    }
    if (text.substr(i, 3) != "..." || term.open)
      call.fail("equation: \"" + std::string(text) +
                "\" is no list of letters and at most one \"...\"");
    term.open = term.letters.size();
    i += 2;
  }
  return term;
}

// The dims that the term's letters name have one size for each letter, where
// that is known.
void check_named_sizes(const Call& call, size_t input, const Term& term,
                       std::map<char, int64_t>& known) {
  const SizeList sizes = call.sizes(input);
  const size_t letters = term.letters.size(), rank = sizes.size();
  if (term.open ? rank < letters : rank != letters)
    call.fail("equation: \"" + term.letters + "\" names " +
              std::to_string(letters) + " dims of input " +
              std::to_string(input) + ", which has " + std::to_string(rank));
  for (size_t i = 0; i < letters; ++i) {
    const bool behind = term.open && i >= *term.open;
    const Value& size = sizes[behind ? rank - letters + i : i];
    if (!size.is_int()) continue;
    const auto [found, is_new] = known.emplace(term.letters[i], size.as_int());
    if (is_new || found->second == size.as_int()) continue;
    if (found->second != 1 && size.as_int() != 1)
      call.fail("equation: dims \"" + std::string(1, term.letters[i]) +
                "\" of " + std::to_string(found->second) + " and " +
                std::to_string(size.as_int()) + " elements");
    found->second = std::max(found->second, size.as_int());
  }
}

// What can be told of the equation when the model is loaded.
void check_equation(const Call& call, std::string_view equation) {
  const size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  std::map<char, int64_t> known;
  std::string letters;
  size_t count = 0;
  for (bool more = true; more; ++count) {
    const size_t comma = left.find(',');
    const Term term = read_term(call, left.substr(0, comma));
    const bool is_known =
        call.has(count) && !Recorder::example(call[count]).is_none();
    if (is_known) check_named_sizes(call, count, term, known);
    letters += term.letters;
    more = comma != left.npos;
    if (more) left.remove_prefix(comma + 1);
  }
  if (count != call.inputs())
    call.fail("equation: " + std::to_string(count) + " operands for " +
              std::to_string(call.inputs()) + " inputs");
  if (arrow == equation.npos) return;
  const Term result = read_term(call, equation.substr(arrow + 2));
  for (size_t i = 0; i < result.letters.size(); ++i) {
    const char letter = result.letters[i];
    const std::string named = "\"" + std::string(1, letter) + "\"";
    if (letters.find(letter) == letters.npos)
      call.fail("equation: the result has a dim " + named +
                ", which no input has");
    if (result.letters.find(letter) != i)
      call.fail("equation: the result has two dims " + named);
  }
}

Results einsum_of(Call& call) {
  const std::string equation = call.text("equation", "");
  check_equation(call, equation);
  return einsum(equation, Value::list(call.all()));
}

constexpr OpRow kContractionsOps[] = {
    {.op = "Det", .since = 11, .function = "torch.det"},
    {.op = "Einsum", .since = 12, .run = einsum_of},
    {.op = "Gemm", .run = gemm},
    {.op = "MatMul", .function = "torch.matmul"},
};

}  // namespace

std::span<const OpRow> contraction_rows() { return kContractionsOps; }

}  // namespace fxjit::onnx
