// Storages whose bytes are made when they are asked for, and what tells the
// memory of tensors apart.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "fxjit/error.h"
#include "fxjit/tensor.h"
#include "src/tensor/tensor_memory.h"

namespace fxjit {
namespace TEST_FILE {

struct Counted {
  std::atomic<int> made = 0;
  std::shared_ptr<Storage> storage =
      Storage::deferred(4 * sizeof(float), [this](std::byte* out) {
        ++made;
        const float numbers[] = {1, 2, 3, 4};
        std::memcpy(out, numbers, sizeof(numbers));
      });
  Tensor tensor() const {
    return Tensor::view(storage, {2, 2}, DType::f32, {2, 1}, 0);
  }
};

TEST(DeferredStorage, IsMadeByTheFirstReading) {
  Counted counted;
  const Tensor t = counted.tensor();
  EXPECT_TRUE(counted.storage->is_deferred());
  const void* const identity = counted.storage->identity();
  EXPECT_EQ(counted.made, 0);
  EXPECT_EQ(t.to_floats(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(t.at({1, 0}), 3);
  EXPECT_EQ(counted.made, 1);
  EXPECT_FALSE(counted.storage->is_deferred());
  EXPECT_EQ(counted.storage->identity(), identity);
}

TEST(DeferredStorage, OneReadingKeepsNothing) {
  Counted counted;
  const Tensor t = counted.tensor();
  const Tensor last =
      Tensor::view(counted.storage, {2}, DType::f32, {2}, 1);  // A column.
  EXPECT_EQ(for_one_reading(last).to_floats(), (std::vector<float>{2, 4}));
  EXPECT_TRUE(counted.storage->is_deferred());
  EXPECT_EQ(for_one_reading(t).to_floats(), t.to_floats());
  EXPECT_EQ(for_one_reading(t).data(), t.data()) << "made by now";
}

TEST(DeferredStorage, IsReadOnly) {
  Counted counted;
  EXPECT_THROW(counted.tensor().copy_from(Tensor::zeros({2, 2})), UserError);
}

TEST(DeferredStorage, IsOneForAllThreads) {
  Counted counted;
  const Tensor t = counted.tensor();
  std::vector<const void*> seen(8);
  std::vector<std::thread> threads;
  for (const void*& one : seen)
    threads.emplace_back([&one, &t] { one = t.data(); });
  for (std::thread& thread : threads) thread.join();
  for (const void* one : seen) EXPECT_EQ(one, t.data());
}

TEST(DeferredStorage, WhatMakingThrowsLeavesItDeferred) {
  int calls = 0;
  const auto storage = Storage::deferred(4, [&](std::byte* out) {
    if (calls++ == 0) throw RuntimeError("not yet");
    std::memset(out, 0, 4);
  });
  EXPECT_THROW(storage->data(), RuntimeError);
  EXPECT_NE(storage->data(), nullptr);
}

TEST(TensorMemory, KeysNameTheViewNotTheHandle) {
  const Tensor a = Tensor::zeros({4, 4}), b = Tensor::zeros({4, 4});
  const Tensor again = Tensor::view(a.storage(), {4, 4}, DType::f32, {4, 1}, 0);
  EXPECT_EQ(memory_key(a), memory_key(again));
  EXPECT_NE(memory_key(a), memory_key(b));
  EXPECT_NE(memory_key(a), memory_key(a.as_strided({4, 4}, {1, 4}, 0)));
  EXPECT_NE(memory_key(a), memory_key(a.as_strided({4, 3}, {4, 1}, 1)));
}

TEST(TensorMemory, KeepersOfReadOnlyMemoryAreItsOwners) {
  static float numbers[4] = {};
  const auto owner = std::make_shared<int>(0);
  const auto wrapped = [&](bool read_only) {
    return Tensor::view(
        Storage::borrow(numbers, sizeof(numbers), owner, read_only), {4},
        DType::f32, {1}, 0);
  };
  EXPECT_EQ(wrapped(true).keeper(), wrapped(true).keeper());
  const Tensor first = wrapped(false), second = wrapped(false);
  EXPECT_NE(first.keeper(), second.keeper()) << "may be written in between";
  EXPECT_EQ(Tensor().keeper(), nullptr);
  EXPECT_EQ(Tensor::meta({2}, DType::f32).keeper(), nullptr);
}

}  // namespace TEST_FILE
}  // namespace fxjit
