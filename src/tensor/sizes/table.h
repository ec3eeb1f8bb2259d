// SizeTable: the named sizes of one kind of inputs, the expressions made of
// them, and the guards: what a trace assumed of them.
//
// A trace with names takes the way of the present values: each comparison is
// proven from the names' ranges or decided by the present values and kept as a
// guard. So for all values that the guards hold for, the trace of these numbers
// takes the same way, and what it makes is the result of the trace with names,
// evaluated.
//
// Expressions are polynomials over atoms: names and floor quotients.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fxjit/size.h"
#include "src/tensor/sizes/decision.h"
#include "src/tensor/sizes/polynomial.h"

namespace fxjit {

// What a trace assumed.
struct SizeGuard {
  enum class Relation : uint8_t {
    zero,
    negative,
    not_zero,
    not_negative,
    decided,  // See decision.h.
  };
  int expression = 0;  // But for decisions.
  Relation relation = Relation::zero;
  bool specialises = false;  // A conversion to an integer asked.
  std::string text;          // "length == 17"
  std::string asker;         // What was traced then; may be empty.
  SizeDecision decide = nullptr;
  std::vector<Size> operands = {};
  int64_t result = 0;
};

class SizeTable {
 public:
  SizeTable();
  SizeTable(const SizeTable&) = delete;
  SizeTable& operator=(const SizeTable&) = delete;

  // A new name in [least, most], which are no guards. RuntimeError when the
  // table is full.
  Size name(const std::string& name, int64_t present, int64_t least = 2,
            int64_t most = INT64_MAX);
  size_t expressions() const { return expressions_.size(); }
  int names() const { return static_cast<int>(names_.size()); }

  // Makes the table the one of this thread's Sizes.
  class Scope {
   public:
    explicit Scope(SizeTable& table);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    SizeTable* const outer_;
  };
  // Says what is traced, for guards that are made meanwhile.
  class Asker {
   public:
    using Describe = std::string (*)(const void* subject);
    // `subject` outlives the object.
    Asker(const void* subject, Describe describe);
    ~Asker();
    Asker(const Asker&) = delete;
    Asker& operator=(const Asker&) = delete;

   private:
    friend class SizeTable;
    const void* const subject_;
    const Describe describe_;
    const Asker* const outer_;
  };

  const std::vector<SizeGuard>& guards() const { return guards_; }
  // What the i-th name can be: its range, as the guards narrow it.
  const sizes::Bounds& bounds_of_name(size_t i) const {
    return atom_bounds_[static_cast<size_t>(names_.at(i).atom)];
  }

  // The values of all expressions for values of the names, in order; false when
  // one leaves its range, a value does not fit 64 bits or a guard fails.
  bool evaluate(std::span<const int64_t> names,
                std::vector<int64_t>& values) const;
  // The first guard that fails for these values of the names; null: none does,
  // or another thing keeps evaluate() from giving values.
  const SizeGuard* failing(std::span<const int64_t> names) const;
  // From the values that evaluate() gave.
  int64_t value(Size size, std::span<const int64_t> values) const;

  std::string text(Size size) const;

  // For Size; null: no kind is traced by this thread.
  static SizeTable* current();
  Size sum(Size a, Size b, int64_t factor);
  Size product(Size a, Size b);
  Size quotient(Size a, Size b);
  bool is_zero(Size difference);
  bool is_negative(Size difference);
  int64_t specialise(Size size);
  int64_t decided(const char* what, SizeDecision decide,
                  std::span<const Size> sizes);
  int64_t present(Size size) const;

 private:
  struct Atom {
    std::string name;  // Empty: the quotient of two expressions, rounded down.
    int dividend = -1, divisor = -1;
  };
  struct Name {
    int atom;
    int64_t least, most;
  };
  struct Key {
    int64_t a, b;
    char operation;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const;
  };

  static size_t index_of(Size named);  // Of its expression.
  const sizes::Polynomial& polynomial(Size size) const;
  Size intern(sizes::Polynomial p);
  Size floor_quotient(const sizes::Polynomial& a, const sizes::Polynomial& b);
  int add_atom(Atom atom, sizes::Bounds bounds, int64_t present);
  template <typename Fn>
  Size once(Key key, const Fn& make);
  bool decide(Size difference, bool zero);
  void assume(Size difference, SizeGuard::Relation relation, std::string text);
  static std::string asker_text();
  void tighten(const sizes::Polynomial& p, SizeGuard::Relation relation);
  std::string text(const sizes::Polynomial& p) const;
  std::string text(const Atom& atom) const;
  std::string relation_text(const sizes::Polynomial& p,
                            SizeGuard::Relation relation) const;
  bool value_of(const sizes::Polynomial& p, std::span<const int64_t> atoms,
                int64_t& value) const;
  bool find_values(std::span<const int64_t> names,
                   std::vector<int64_t>& values) const;
  bool holds(const SizeGuard& guard, std::span<const int64_t> values) const;

  const int64_t serial_;  // Tells the words of tables apart.
  std::vector<Name> names_;
  std::vector<Atom> atoms_;
  std::vector<sizes::Bounds> atom_bounds_;
  std::vector<int64_t> atom_present_;
  // In order of creation: each is made of atoms whose operands stand before it.
  std::vector<sizes::Polynomial> expressions_;
  std::vector<int64_t> present_;
  std::map<sizes::Polynomial, int> known_;
  std::map<std::pair<int, int>, int> quotients_;
  std::unordered_map<Key, int64_t, KeyHash> results_;
  std::vector<SizeGuard> guards_;
};

}  // namespace fxjit
