#include "src/tensor/sizes/table.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "fxjit/error.h"

namespace fxjit {
namespace {

using Relation = SizeGuard::Relation;
using sizes::Bounds;
using sizes::Polynomial;
using sizes::Term;

// A name's word: the mark of names, the table, the expression.
constexpr int kExpressionBits = 20;
constexpr int64_t kMostExpressions = int64_t{1} << kExpressionBits;
constexpr int64_t kSerials = int64_t{1} << (32 - kExpressionBits);

thread_local SizeTable* current_table = nullptr;
thread_local const SizeTable::Asker* current_asker = nullptr;

int64_t next_serial() {
  static std::atomic<int64_t> next{0};
  return next.fetch_add(1) % kSerials;
}

}  // namespace

SizeTable::SizeTable() : serial_(next_serial()) {}

SizeTable* SizeTable::current() { return current_table; }

SizeTable::Scope::Scope(SizeTable& table) : outer_(current_table) {
  current_table = &table;
}
SizeTable::Scope::~Scope() { current_table = outer_; }

SizeTable::Asker::Asker(const void* subject, Describe describe)
    : subject_(subject), describe_(describe), outer_(current_asker) {
  current_asker = this;
}
SizeTable::Asker::~Asker() { current_asker = outer_; }

size_t SizeTable::KeyHash::operator()(const Key& key) const {
  size_t hash = static_cast<size_t>(key.a) * 0x9e3779b97f4a7c15U;
  hash = (hash ^ (hash >> 29)) + static_cast<size_t>(key.b);
  hash *= 0xbf58476d1ce4e5b9U;
  return (hash ^ (hash >> 31)) + static_cast<size_t>(key.operation);
}

Size SizeTable::name(const std::string& name, int64_t present, int64_t least,
                     int64_t most) {
  FXJIT_CHECK(present >= least && present <= most,
              "sizes: the present value is outside of the name's range");
  const int atom = add_atom({.name = name}, {least, most}, present);
  names_.push_back({atom, least, most});
  return intern(sizes::unknown(atom));
}

int SizeTable::add_atom(Atom atom, Bounds bounds, int64_t present) {
  atoms_.push_back(std::move(atom));
  atom_bounds_.push_back(bounds);
  atom_present_.push_back(present);
  return static_cast<int>(atoms_.size()) - 1;
}

size_t SizeTable::index_of(Size named) {
  return static_cast<size_t>(named.word() & (kMostExpressions - 1));
}

const Polynomial& SizeTable::polynomial(Size size) const {
  const int64_t low = size.word() & 0xffffffff;
  FXJIT_CHECK(low >> kExpressionBits == serial_,
              "sizes: a named size outside of its kind's trace");
  return expressions_.at(index_of(size));
}

Size SizeTable::intern(Polynomial p) {
  if (const std::optional<int64_t> number = sizes::as_constant(p))
    return *number;
  const auto [at, fresh] =
      known_.emplace(std::move(p), static_cast<int>(expressions_.size()));
  if (fresh) {
    int64_t value = 0;
    if (at->second == kMostExpressions ||
        !value_of(at->first, atom_present_, value))
      throw RuntimeError("an expression of named sizes is too large");
    expressions_.push_back(at->first);
    present_.push_back(value);
  }
  return Size::from_word(
      static_cast<int64_t>(static_cast<uint64_t>(Size::kNamed) << 32 |
                           static_cast<uint64_t>(serial_) << kExpressionBits |
                           static_cast<uint64_t>(at->second)));
}

template <typename Fn>
Size SizeTable::once(Key key, const Fn& make) {
  const auto at = results_.find(key);
  if (at != results_.end()) return Size::from_word(at->second);
  const Size made = make();
  results_.emplace(key, made.word());
  return made;
}

namespace {

// As expressions, numbers as well.
template <typename Table>
Polynomial either(const Table& polynomial_of, Size size) {
  return size.is_number() ? sizes::constant(size.word()) : polynomial_of(size);
}

}  // namespace

Size SizeTable::sum(Size a, Size b, int64_t factor) {
  const auto named = [this](Size size) { return polynomial(size); };
  return once({a.word(), b.word(), factor > 0 ? '+' : '-'}, [&] {
    return intern(sizes::sum(either(named, a), either(named, b), factor));
  });
}

Size SizeTable::product(Size a, Size b) {
  const auto named = [this](Size size) { return polynomial(size); };
  return once({a.word(), b.word(), '*'}, [&] {
    return intern(sizes::product(either(named, a), either(named, b)));
  });
}

// As C++ divides: towards zero.
Size SizeTable::quotient(Size a, Size b) {
  if (b == 0) throw RuntimeError("integer division by zero");
  if (b < 0) return -quotient(a, -b);
  if (a < 0) return -quotient(-a, b);
  const auto named = [this](Size size) { return polynomial(size); };
  return once({a.word(), b.word(), '/'}, [&] {
    return floor_quotient(either(named, a), either(named, b));
  });
}

Size SizeTable::floor_quotient(const Polynomial& a, const Polynomial& b) {
  if (const auto exact = sizes::exact_quotient(a, b)) return intern(*exact);
  // What divides is apart: (4 * n + 3) / 4 is n.
  Polynomial whole, rest;
  for (const Term& term : a) {
    const auto part = sizes::exact_quotient({term}, b);
    if (part)
      whole = sizes::sum(whole, *part);
    else
      rest = sizes::sum(rest, {term});
  }
  const auto number = sizes::as_constant(rest), by = sizes::as_constant(b);
  if (number && by)
    return intern(sizes::sum(
        whole, sizes::constant(sizes::floor_quotient(*number, *by))));
  const auto index_of = [this](const Polynomial& p) {
    // Constants are no expressions of their own elsewhere.
    const auto at = known_.find(p);
    if (at != known_.end()) return at->second;
    int64_t value = 0;
    if (!value_of(p, atom_present_, value))
      throw RuntimeError("an expression of named sizes is too large");
    expressions_.push_back(p);
    present_.push_back(value);
    return known_.emplace(p, static_cast<int>(expressions_.size()) - 1)
        .first->second;
  };
  const int dividend = index_of(rest), divisor = index_of(b);
  const auto [at, fresh] = quotients_.emplace(std::pair(dividend, divisor),
                                              static_cast<int>(atoms_.size()));
  if (fresh) {
    const Bounds from = sizes::bounds(rest, atom_bounds_);
    Bounds bounds;
    if (by) {
      if (from.least) bounds.least = sizes::floor_quotient(*from.least, *by);
      if (from.most) bounds.most = sizes::floor_quotient(*from.most, *by);
    } else if (from.least && *from.least >= 0) {
      bounds = {0, from.most};
    }
    add_atom({{}, dividend, divisor}, bounds,
             sizes::floor_quotient(present_[static_cast<size_t>(dividend)],
                                   present_[static_cast<size_t>(divisor)]));
  }
  return intern(sizes::sum(whole, sizes::unknown(at->second)));
}

// Asked as "a == b" or "b == a", it is one question.
bool SizeTable::is_zero(Size difference) {
  if (!difference.is_number() && polynomial(difference).back().factor < 0)
    difference = product(difference, -1);
  return decide(difference, true);
}

bool SizeTable::is_negative(Size difference) {
  return decide(difference, false);
}

bool SizeTable::decide(Size difference, bool zero) {
  if (difference.is_number())
    return zero ? difference.word() == 0 : difference.word() < 0;
  const Key key{difference.word(), 0, zero ? '=' : '<'};
  return once(key, [&]() -> Size {
           const Polynomial p = polynomial(difference);
           const Bounds known = sizes::bounds(p, atom_bounds_);
           const bool positive = known.least && *known.least > 0;
           const bool negative = known.most && *known.most < 0;
           if (zero && (positive || negative)) return 0;
           if (!zero && negative) return 1;
           if (!zero && known.least && *known.least >= 0) return 0;
           if (zero && known.least && known.most && *known.least == *known.most)
             return 1;
           const int64_t value = present(difference);
           const bool is = zero ? value == 0 : value < 0;
           const Relation relation =
               zero ? (is ? Relation::zero : Relation::not_zero)
                    : (is ? Relation::negative : Relation::not_negative);
           assume(difference, relation, relation_text(p, relation));
           return is ? 1 : 0;
         }) == 1;
}

void SizeTable::assume(Size difference, Relation relation, std::string text) {
  const auto index = static_cast<int>(index_of(difference));
  guards_.push_back({index, relation, false, std::move(text), asker_text()});
  tighten(polynomial(difference), relation);
}

std::string SizeTable::asker_text() {
  const Asker* const asker = current_asker;
  return asker ? asker->describe_(asker->subject_) : std::string();
}

int64_t SizeTable::decided(const char* what, SizeDecision decide,
                           std::span<const Size> sizes) {
  for (const SizeGuard& guard : guards_)
    if (guard.decide == decide &&
        std::ranges::equal(guard.operands, sizes, {}, &Size::word, &Size::word))
      return guard.result;
  std::vector<int64_t> numbers;
  std::string text = std::string("the same choice: ") + what;
  const char* before = ", by ";
  for (const Size size : sizes) {
    numbers.push_back(hint(size));
    if (size.is_number()) continue;
    text += std::exchange(before, ", ") + this->text(size);
  }
  const int64_t result = decide(numbers);
  guards_.push_back({-1,
                     Relation::decided,
                     false,
                     std::move(text),
                     asker_text(),
                     decide,
                     {sizes.begin(), sizes.end()},
                     result});
  return result;
}

// Guards of one name without powers narrow its range.
void SizeTable::tighten(const Polynomial& p, Relation relation) {
  int64_t offset = 0;
  const Term* linear = nullptr;
  for (const Term& term : p) {
    if (term.atoms.empty())
      offset = term.factor;
    else if (term.atoms.size() > 1 || linear)
      return;
    else
      linear = &term;
  }
  if (!linear || offset == INT64_MIN || linear->factor == INT64_MIN) return;
  Bounds& bounds = atom_bounds_[static_cast<size_t>(linear->atoms[0])];
  const auto at_least = [&](int64_t n) {
    bounds.least = std::max(n, bounds.least.value_or(n));
  };
  const auto at_most = [&](int64_t n) {
    bounds.most = std::min(n, bounds.most.value_or(n));
  };
  // factor * x + offset against 0, with a positive factor.
  const bool flipped = linear->factor < 0;
  const int64_t factor = flipped ? -linear->factor : linear->factor;
  const int64_t against = flipped ? offset : -offset;
  switch (relation) {
    case Relation::zero:
      at_least(against / factor), at_most(against / factor);
      break;
    case Relation::not_zero:
      if (bounds.least && *bounds.least == against / factor &&
          against % factor == 0)
        ++*bounds.least;
      else if (bounds.most && *bounds.most == against / factor &&
               against % factor == 0)
        --*bounds.most;
      break;
    case Relation::negative:
      if (flipped)
        at_least(sizes::floor_quotient(against, factor) + 1);
      else
        at_most(-sizes::floor_quotient(-against, factor) - 1);
      break;
    case Relation::not_negative:
      if (flipped)
        at_most(sizes::floor_quotient(against, factor));
      else
        at_least(-sizes::floor_quotient(-against, factor));
      break;
    case Relation::decided:
      break;
  }
}

int64_t SizeTable::specialise(Size size) {
  const int64_t value = present(size);
  const size_t known = guards_.size();
  is_zero(sum(size, value, -1));
  if (guards_.size() > known) guards_.back().specialises = true;
  return value;
}

int64_t SizeTable::present(Size size) const {
  polynomial(size);  // Of this table.
  return present_[index_of(size)];
}

}  // namespace fxjit
