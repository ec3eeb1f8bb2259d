#include "fxjit/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "fxjit/error.h"

namespace fxjit {
namespace TEST_FILE {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Value, IsSixteenBytes) { EXPECT_EQ(sizeof(Value), 16u); }

TEST(Value, ReprOfFloatsIsPythons) {
  EXPECT_EQ(repr(0.1), "0.1");
  EXPECT_EQ(repr(1e-05), "1e-05");
  EXPECT_EQ(repr(0.0001), "0.0001");
  EXPECT_EQ(repr(1.5e-07), "1.5e-07");
  EXPECT_EQ(repr(1e16), "1e+16");
  EXPECT_EQ(repr(1234567890123456.0), "1234567890123456.0");
  EXPECT_EQ(repr(1e22), "1e+22");
  EXPECT_EQ(repr(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(repr(5e-324), "5e-324");
  EXPECT_EQ(repr(100.0), "100.0");
  EXPECT_EQ(repr(-0.0), "-0.0");
  EXPECT_EQ(repr(3.141592653589793), "3.141592653589793");
  EXPECT_EQ(repr(-123.456), "-123.456");
  EXPECT_EQ(repr(kInf), "inf");
  EXPECT_EQ(repr(-kInf), "-inf");
  EXPECT_EQ(repr(std::nan("")), "nan");
}

TEST(Value, ReprOfContainersIsPythons) {
  EXPECT_EQ(repr(Value::tuple({1})), "(1,)");
  EXPECT_EQ(repr(Value::tuple({})), "()");
  EXPECT_EQ(repr(Value::tuple({1, Value::tuple({2.0, None})})),
            "(1, (2.0, None))");
  EXPECT_EQ(repr(Value::list({true, "a", DType::f32})),
            "[True, 'a', torch.float32]");
  EXPECT_EQ(repr(Value::dict({{"k", 1}, {2, Value::list({})}})),
            "{'k': 1, 2: []}");
  EXPECT_EQ(repr(Value::slice(1, None)), "slice(1, None, None)");
  EXPECT_EQ(repr(Value::range(0, 3, 1)), "range(0, 3)");
  EXPECT_EQ(repr(Value::range(3, 0, -1)), "range(3, 0, -1)");
  EXPECT_EQ(repr(Ellipsis), "Ellipsis");
  EXPECT_EQ(repr(Dims{2, 3}), "[2, 3]");
}

TEST(Value, ReprOfStringsIsPythons) {
  EXPECT_EQ(repr("plain"), "'plain'");
  EXPECT_EQ(repr("it's"), "\"it's\"");
  EXPECT_EQ(repr("both ' and \""), "'both \\' and \"'");
  EXPECT_EQ(repr("a\\b\n\t\x01"), "'a\\\\b\\n\\t\\x01'");
  EXPECT_EQ(repr("h\xc3\xa9"), "'h\xc3\xa9'");
}

TEST(Value, ReprWritesLeavesByTheCallback) {
  const auto leaf = [](const Value& v, const void* context) {
    return std::string(static_cast<const char*>(context)) +
           std::string(v.kind_name());
  };
  Counted* thing = new Counted;
  const Value opaque = Value::opaque(thing);
  EXPECT_EQ(repr(Value::list({opaque, 1}), leaf, "%"), "[%object, 1]");
  EXPECT_EQ(repr(opaque), "<object>");
}

TEST(Value, SameIsPythonsEquality) {
  EXPECT_TRUE(same(1, 1.0));
  EXPECT_TRUE(same(1, true));
  EXPECT_FALSE(same(0, None));
  EXPECT_FALSE(same((int64_t{1} << 53) + 1, 9007199254740992.0));
  EXPECT_FALSE(same(std::nan(""), std::nan("")));
  EXPECT_TRUE(same(Value::list({1, "a"}), Value::list({1.0, "a"})));
  EXPECT_FALSE(same(Value::list({1}), Value::tuple({1})));
  EXPECT_TRUE(same(Value::dict({{"a", 1}, {"b", 2}}),
                   Value::dict({{"b", 2}, {"a", 1}})));
  EXPECT_FALSE(same(Value::dict({{"a", 1}}), Value::dict({{"b", 1}})));
  EXPECT_TRUE(same(Value::slice(1, None), Value::slice(1, None, None)));
  EXPECT_TRUE(same(Value::range(0, 4, 2), Value::range(0, 3, 2)));
  const Tensor t = Tensor::zeros({2});
  EXPECT_TRUE(same(t, Tensor(t)));
  EXPECT_FALSE(same(t, t.clone()));
}

TEST(Value, TruthIsPythons) {
  EXPECT_FALSE(Value(None));
  EXPECT_FALSE(Value(0.0));
  EXPECT_TRUE(Value(-1));
  EXPECT_FALSE(Value(""));
  EXPECT_TRUE(Value::tuple({0}));
  EXPECT_FALSE(Value::list({}));
  EXPECT_FALSE(Value::range(3, 3, 1));
  EXPECT_TRUE(Value(Tensor::full({1, 1}, 2)));
  EXPECT_FALSE(Value(Tensor::zeros({})));
  EXPECT_THROW((void)bool{Value(Tensor::zeros({2}))}, RuntimeError);
}

TEST(Value, AccessorsCheckTheKind) {
  EXPECT_EQ(Value(true).as_int(), 1);
  EXPECT_EQ(Value(3).as_double(), 3.0);
  EXPECT_THROW(Value(3.0).as_int(), TypeError);
  EXPECT_THROW(Value("x").as_double(), TypeError);
  EXPECT_THROW(Value().as_tensor(), TypeError);
  EXPECT_EQ(Value(5).as_dims(), (Dims{5}));
  EXPECT_EQ(Value::tuple({1, 2}).as_dims(), (Dims{1, 2}));
  EXPECT_THROW(Value::list({1.5}).as_dims(), TypeError);
  EXPECT_THROW(Value::list({1}).at(1), IndexError);
  EXPECT_THROW(Value(1).size(), TypeError);
  EXPECT_EQ(Value::dict({{"k", 4}}).find("k")->as_int(), 4);
  EXPECT_EQ(Value::dict({{"k", 4}}).find("z"), nullptr);
  EXPECT_THROW(Value::range(0, 1, 0), ValueError);
}

TEST(Value, PayloadsDieWithTheLastHolder) {
  struct Watched : Counted {
    explicit Watched(bool* flag) : gone(flag) {}
    ~Watched() override { *gone = true; }
    bool* gone;
  };
  bool gone = false;
  {
    Value outer;
    {
      const Value value = Value::opaque(new Watched(&gone));
      outer = Value::list({value, value});
    }
    EXPECT_FALSE(gone);
    Value moved = std::move(outer);
    EXPECT_TRUE(outer.is_none());
    moved = moved.at(1);
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(gone);
}

TEST(Value, LeavesAreVisitedAndMapped) {
  const Value nested = Value::tuple(
      {1, Value::list({2, Value::slice(3, None)}), Value::dict({{"k", 4}})});
  int64_t total = 0;
  visit_leaves(nested, [&](const Value& leaf) {
    if (leaf.is_int()) total += leaf.as_int();
  });
  EXPECT_EQ(total, 10);
  const Value doubled = map_leaves(nested, [](const Value& leaf) -> Value {
    return leaf.is_int() ? Value(leaf.as_int() * 2) : leaf;
  });
  EXPECT_EQ(repr(doubled), "(2, [4, slice(6, None, None)], {'k': 8})");
}

TEST(Value, SharedBetweenThreads) {
  const Value shared = Value::list({"text", Tensor::zeros({4})});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([shared] {
      for (int k = 0; k < 1000; ++k) {
        const Value copy = Value::tuple({shared, shared.at(0)});
        ASSERT_EQ(copy.at(1).as_string(), "text");
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace TEST_FILE
}  // namespace fxjit
