// Products that use each number once.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

// Of what only the call knows, with one row, one column or nothing to sum.
TEST(Lower, ProductsOfVectorsAreElementwise) {
  for (const auto& [a, b] :
       std::vector<std::pair<Dims, Dims>>{{{6}, {6}},
                                          {{4, 6}, {6}},
                                          {{6}, {6, 4}},
                                          {{6}, {3, 6, 4}},
                                          {{1, 6}, {6, 4}},
                                          {{3, 4, 6}, {1, 6, 1}},
                                          {{3, 1, 6}, {2, 1, 6, 4}},
                                          {{4, 1}, {1, 5}},
                                          {{3, 4, 1}, {3, 1, 5}},
                                          {{1}, {1}},
                                          {{3, 1, 0}, {3, 0, 4}},
                                          {{0, 1, 6}, {0, 6, 4}}})
    for (const bool flipped : {false, true}) {
      const auto laid = [&](Tensor t) -> Value {
        if (!flipped || t.dim() < 2) return t;
        return transpose(method(transpose(t, -2, -1), "contiguous"), -2, -1);
      };
      const auto passed =
          run_passes([](Value x, Value y) { return matmul(x, y); },
                     {laid(random_tensor(a, 1)), laid(random_tensor(b, 2))});
      EXPECT_EQ(wrong_result(passed), "") << a.str() << " @ " << b.str();
      EXPECT_THAT(testing::regions(passed.model),
                  Not(Contains("contraction: contract")))
          << a.str() << " @ " << b.str();
    }
}

}  // namespace TEST_FILE
}  // namespace fxjit
