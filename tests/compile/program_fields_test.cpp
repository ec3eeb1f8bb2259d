// Every field of a program's parts is in the list of fields that stands beside
// its struct: what is missing there would be lost when a program is written
// out.
#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <set>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

#include "src/program/text/fields.h"
#include "src/support/memory/shared_value.h"

namespace fxjit::program {
namespace TEST_FILE {

// Becomes a field of any type.
struct Anything {
  template <typename T>
  operator T() const;
};

template <typename T, typename... Values>
consteval size_t initializers() {
  if constexpr (requires { T{Values{}..., Anything{}}; }) {
    return initializers<T, Values..., Anything>();
  } else {
    return sizeof...(Values);
  }
}

// How many fields a struct has. One that it is derived from counts as one
// initializer.
template <typename T>
consteval size_t members() {
  size_t count = initializers<T>();
  if constexpr (std::derived_from<T, Loops>) count += initializers<Loops>() - 1;
  if constexpr (std::derived_from<T, Epilogue>)
    count += initializers<Epilogue>() - 1;
  // Nothing is reduced but rows, or what windows show and resizing joins.
  if (std::same_as<T, RowStep> || std::same_as<T, WindowStep> ||
      std::same_as<T, ResampleStep>)
    --count;
  return count;
}

// Walks the lists of all parts of a program, each type once.
class Walk {
 public:
  template <typename T>
  void visit(const T&) {
    if constexpr (requires(T part, Walk walk) { fields(part, walk); }) {
      if (!seen_.insert(typeid(T).name()).second) return;
      Walk inner(seen_);
      T part{};
      fields(part, inner);
      EXPECT_EQ(inner.count_, members<T>()) << typeid(T).name();
    }
  }
  template <typename T>
  void visit(const std::vector<T>&) {
    visit(T{});
  }
  template <typename T>
  void visit(const support::SharedValue<T>&) {
    visit(T{});
  }
  template <typename... T>
  void visit(const std::variant<T...>&) {
    (visit(T{}), ...);
  }
  template <typename T>
  void operator()(const char*, const T& field) {
    ++count_;
    visit(field);
  }

  explicit Walk(std::set<std::string>& seen) : seen_(seen) {}

 private:
  std::set<std::string>& seen_;
  size_t count_ = 0;
};

TEST(ProgramFields, AreAllInTheirLists) {
  std::set<std::string> seen;
  Walk(seen).visit(Program());
  for (const char* part :
       {typeid(Machine).name(), typeid(WinogradStep).name(),
        typeid(ControlCall::Body).name(), typeid(weights::PackPiece).name()})
    EXPECT_TRUE(seen.contains(part)) << part;
}

}  // namespace TEST_FILE
}  // namespace fxjit::program
