// SizeFormula::parse: a recursive descent over the grammar of the header.
#include <algorithm>
#include <charconv>
#include <span>

#include "src/import/pt2/size_formula.h"

namespace fxjit::import {
namespace {

using Kind = SizeFormula::Kind;

constexpr int kMaxDepth = 200;
constexpr size_t kMaxNodes = 10'000;

struct Function {
  std::string_view name;
  Kind kind;
};
// Functions of two arguments or, where the result does not depend on their
// grouping, of more.
constexpr Function kFunctions[] = {{"Add", Kind::add},
                                   {"Mul", Kind::mul},
                                   {"Pow", Kind::pow},
                                   {"PowByNatural", Kind::pow},
                                   {"Mod", Kind::mod},
                                   {"PythonMod", Kind::mod},
                                   {"FloorDiv", Kind::div},
                                   {"CleanDiv", Kind::div},
                                   {"Max", Kind::max},
                                   {"Min", Kind::min},
                                   {"max", Kind::max},
                                   {"min", Kind::min},
                                   {"And", Kind::both},
                                   {"Or", Kind::either},
                                   {"Eq", Kind::eq},
                                   {"Ne", Kind::ne},
                                   {"Lt", Kind::lt},
                                   {"Le", Kind::le},
                                   {"Gt", Kind::gt},
                                   {"Ge", Kind::ge},
                                   {"Equality", Kind::eq},
                                   {"Unequality", Kind::ne},
                                   {"StrictLessThan", Kind::lt},
                                   {"LessThan", Kind::le},
                                   {"StrictGreaterThan", Kind::gt},
                                   {"GreaterThan", Kind::ge}};

constexpr Function kComparisons[] = {{"==", Kind::eq}, {"!=", Kind::ne},
                                     {"<=", Kind::le}, {">=", Kind::ge},
                                     {"<", Kind::lt},  {">", Kind::gt}};

constexpr Function kSums[] = {{"+", Kind::add}, {"-", Kind::sub}};
constexpr Function kProducts[] = {
    {"//", Kind::div}, {"*", Kind::mul}, {"%", Kind::mod}};

bool joins_many(Kind kind) {
  return kind == Kind::add || kind == Kind::mul || kind == Kind::max ||
         kind == Kind::min || kind == Kind::both || kind == Kind::either;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

// Every function returns the place of what it read, or -1 for text outside the
// grammar.
class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : text_(text) {}

  std::optional<SizeFormula> run() {
    const int root = either();
    skip_blanks();
    if (root < 0 || at_ != text_.size()) return std::nullopt;
    return std::move(formula_);
  }

 private:
  using Rule = int (FormulaParser::*)();

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  // The first of these that comes next; null for none.
  const Function* take_one(std::span<const Function> signs) {
    for (const Function& sign : signs)
      if (take(sign.name)) return &sign;
    return nullptr;
  }
  // A name; not a part of a longer one.
  bool take_word(std::string_view word) {
    const size_t start = at_;
    if (name() == word) return true;
    at_ = start;
    return false;
  }
  std::string_view name() {
    skip_blanks();
    const size_t start = at_;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || (at_ > start && is_digit(text_[at_]))))
      ++at_;
    return text_.substr(start, at_ - start);
  }

  int add(SizeFormula::Node node) {
    if (formula_.nodes_.size() >= kMaxNodes) return -1;
    formula_.nodes_.push_back(node);
    return static_cast<int>(formula_.nodes_.size()) - 1;
  }
  int join(Kind kind, int left, int right) {
    if (left < 0 || right < 0) return -1;
    return add({kind, 0, left, right});
  }
  int add_name(std::string name) {
    auto& names = formula_.names_;
    const auto found = std::find(names.begin(), names.end(), name);
    const auto place = found - names.begin();
    if (found == names.end()) names.push_back(std::move(name));
    return add({Kind::name, place});
  }

  int either() {
    if (++depth_ > kMaxDepth) return -1;
    int left = both();
    while (left >= 0 && take_word("or"))
      left = join(Kind::either, left, both());
    --depth_;
    return left;
  }
  int both() {
    int left = inverse();
    while (left >= 0 && take_word("and"))
      left = join(Kind::both, left, inverse());
    return left;
  }
  int inverse() {
    if (!take_word("not")) return comparison();
    if (++depth_ > kMaxDepth) return -1;
    const int inner = inverse();
    --depth_;
    return inner < 0 ? -1 : add({Kind::inverse, 0, inner, -1});
  }

  // "a < b < c" means both, as in Python.
  int comparison() {
    int left = sum(), result = -1;
    while (left >= 0) {
      const Function* const found = take_one(kComparisons);
      if (!found) return result < 0 ? left : result;
      const int right = sum();
      const int compared = join(found->kind, left, right);
      result = result < 0 ? compared : join(Kind::both, result, compared);
      left = right;
    }
    return -1;
  }

  int sum() { return chain(kSums, &FormulaParser::product); }
  int product() { return chain(kProducts, &FormulaParser::factor); }
  int chain(std::span<const Function> signs, Rule operand) {
    int left = (this->*operand)();
    while (left >= 0) {
      const Function* const sign = take_one(signs);
      if (!sign) break;
      left = join(sign->kind, left, (this->*operand)());
    }
    return left;
  }
  int factor() {
    if (++depth_ > kMaxDepth) return -1;
    int result = -1;
    if (take("-")) {
      const int zero = add({Kind::number, 0});
      result = join(Kind::sub, zero, factor());
    } else if (take("+")) {
      result = factor();
    } else {
      result = atom();
      if (result >= 0 && take("**")) result = join(Kind::pow, result, factor());
    }
    --depth_;
    return result;
  }

  int atom() {
    skip_blanks();
    if (at_ == text_.size()) return -1;
    if (take("(")) {
      const int inner = either();
      return take(")") ? inner : -1;
    }
    if (is_digit(text_[at_])) return number();
    const std::string word(name());
    if (word.empty()) return -1;
    if (word == "True" || word == "False")
      return add({Kind::number, word == "True"});
    if (word == "L") return input_size();
    if (!take("(")) return add_name(word);
    if (word == "Symbol") return symbol();
    return call(word);
  }

  int number() {
    int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc()) return -1;
    at_ = static_cast<size_t>(stop - text_.data());
    // A fraction is no size.
    if (at_ < text_.size() && (text_[at_] == '.' || is_letter(text_[at_])))
      return -1;
    return add({Kind::number, value});
  }

  int call(std::string_view word) {
    int result = either();
    if (word == "Integer") return take(")") ? result : -1;
    if (word == "Not")
      return result >= 0 && take(")") ? add({Kind::inverse, 0, result, -1})
                                      : -1;
    const auto* const found =
        std::find_if(std::begin(kFunctions), std::end(kFunctions),
                     [&](const Function& one) { return one.name == word; });
    if (found == std::end(kFunctions)) return -1;
    int arguments = 1;
    while (result >= 0 && take(",")) {
      result = join(found->kind, result, either());
      ++arguments;
    }
    const bool fits = arguments == 2 || joins_many(found->kind);
    return fits && result >= 0 && take(")") ? result : -1;
  }

  // Symbol('s0', positive=True, integer=True)
  int symbol() {
    const auto text = quoted();
    if (!text) return -1;
    while (take(","))
      if (name().empty() || !take("=") || name().empty()) return -1;
    return take(")") ? add_name(*text) : -1;
  }

  std::optional<std::string> quoted() {
    skip_blanks();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      return std::nullopt;
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == text_.npos) return std::nullopt;
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }

  // Behind "L": ['x'][0].size()[1]. The keys stay as they are written.
  int input_size() {
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] == '[') {
      const size_t end = text_.find(']', at_);
      if (end == text_.npos) return -1;
      at_ = end + 1;
    }
    const std::string path(text_.substr(start, at_ - start));
    if (path.empty() || !(take(".size()") || take(".shape"))) return -1;
    if (!take("[")) return -1;
    const size_t digits = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    const std::string dim(text_.substr(digits, at_ - digits));
    if (dim.empty() || !take("]")) return -1;
    return add_name("L" + path + "[" + dim + "]");
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  SizeFormula formula_;
};

std::optional<SizeFormula> SizeFormula::parse(std::string_view text) {
  return FormulaParser(text).run();
}

}  // namespace fxjit::import
