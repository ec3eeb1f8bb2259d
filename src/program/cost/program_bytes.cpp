#include "src/program/cost/program_bytes.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

namespace fxjit::program {
namespace {

// A primitive with its code and handles takes 20 to 60 KiB.
constexpr size_t kExternBytes = size_t{64} << 10;
// What an executable, its module's entry and the allocator add to a step.
constexpr size_t kStepOverhead = 1024;
constexpr size_t kStringBytes = 64;

template <typename Item>
size_t bytes_of(const std::vector<Item>& items) {
  return items.capacity() * sizeof(Item);
}

// What the lists take that a step holds, and those within them.
class ListBytes {
 public:
  template <typename T>
  void operator()(const char*, const std::vector<T>& items) {
    bytes_ += bytes_of(items);
    for (const T& item : items) add(item);
  }
  template <typename T>
  void operator()(const char*, const T& part) {
    add(part);
  }
  template <typename T>
  void add(const T& part) {
    if constexpr (requires { fields(part, *this); }) fields(part, *this);
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

size_t bytes_of(const StepBody& body) {
  return std::visit(Overloaded{[](const Skeleton auto& step) {
                                 ListBytes lists;
                                 lists.add(step);
                                 return lists.bytes();
                               },
                               [](const ExternStep&) { return kExternBytes; }},
                    body);
}

// Steps share what they have in common, which counts once.
class StepBytes {
 public:
  size_t operator()(const Step& step) {
    size_t bytes = sizeof(Step) + kStepOverhead + step.label.capacity() +
                   step.operands.capacity() * sizeof(OperandRef);
    if (seen_.insert(step.nodes.get()).second)
      bytes += step.nodes->size() * kStringBytes;
    if (seen_.insert(step.body.get()).second)
      bytes += sizeof(StepBody) + bytes_of(*step.body);
    return bytes;
  }

 private:
  std::unordered_set<const void*> seen_;
};

// The views of one storage among some tensors, equal ones side by side. Whether
// nobody else holds the storage or one of them.
bool are_alone(std::span<const Tensor* const> views) {
  long distinct = 0;
  for (size_t i = 0; i < views.size(); ++distinct) {
    const size_t first = i;
    while (i < views.size() && views[i]->is(*views[first])) ++i;
    if (views[first]->use_count() > static_cast<long>(i - first)) return false;
  }
  return views[0]->storage().use_count() <= distinct;
}

// Those of constants that the program alone holds; weights are the module's.
size_t bytes_of_constants(const std::vector<Tensor>& constants) {
  const auto place = [](const Tensor* tensor) {
    return std::pair<const void*, const void*>(tensor->storage().get(),
                                               tensor->id());
  };
  std::vector<const Tensor*> views;
  views.reserve(constants.size());
  for (const Tensor& tensor : constants) views.push_back(&tensor);
  std::ranges::sort(views, {}, place);
  size_t bytes = 0;
  for (size_t i = 0; i < views.size();) {
    const size_t first = i;
    const Storage& storage = *views[first]->storage();
    while (i < views.size() && views[i]->storage().get() == &storage) ++i;
    if (are_alone(std::span(views).subspan(first, i - first)))
      bytes += storage.bytes();
  }
  return bytes;
}

}  // namespace

size_t described_bytes(const Program& program,
                       const std::vector<Tensor>& constants) {
  size_t bytes = sizeof(Program) + bytes_of(program.buffers) +
                 bytes_of(program.inputs) + bytes_of(program.outputs) +
                 bytes_of(program.constants) + bytes_of(program.packed) +
                 bytes_of_constants(constants);
  for (const weights::PackSpec& packed : program.packed)
    bytes += bytes_of(packed.pieces);
  StepBytes of_step;
  for (const Step& step : program.steps) bytes += of_step(step);
  for (const Program& body : program.bodies) bytes += described_bytes(body, {});
  return bytes;
}

}  // namespace fxjit::program
