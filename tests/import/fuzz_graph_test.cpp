// Random changes of a program's description: an error that a caller can catch,
// or a program that can be called.
#include <gtest/gtest.h>

#include <random>

#include "fxjit/error.h"
#include "fxjit/log.h"
#include "tests/import/edited_archive.h"
#include "tests/import/model_cases.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing_import;  // NOLINT: the names of this folder
using nlohmann::json;
using Random = std::mt19937;

// A value somewhere below `value`, each step chosen at random.
json* pick(json* value, Random& random) {
  while (value->is_structured() && !value->empty() && random() % 12 != 0) {
    auto at = value->begin();
    std::advance(at, random() % value->size());
    value = &*at;
  }
  return value;
}

void change(json& root, Random& random) {
  json* const value = pick(&root, random);
  switch (random() % 8) {
    case 0:
      *value = nullptr;
      break;
    case 1:
      *value = static_cast<int64_t>(random() % 16) - 4;
      break;
    case 2:
      *value = int64_t{1} << (random() % 63);
      break;
    case 3:
      *value = "x";
      break;
    case 4:
      *value = json::array();
      break;
    case 5:
      if (value->is_structured() && !value->empty())
        value->erase(value->begin());
      break;
    case 6:
      if (value->is_array() && !value->empty())
        value->push_back(json(value->front()));
      break;
    default:
      *value = json(*pick(&root, random));
  }
}

// Loads and calls what is left of a program; 1 where it was refused.
int refused(const std::string& file, const ModelCase& good) {
  try {
    const pt2::Program program = pt2::load(file);
    const auto [args, kwargs] = program.arguments_of(good.inputs);
    program.run(args, kwargs);
  } catch (const UserError&) {
    return 1;
  } catch (const RuntimeError&) {
    return 1;
  }
  return 0;
}

class FuzzGraph : public ::testing::TestWithParam<std::string> {};

TEST_P(FuzzGraph, RandomChanges) {
  constexpr int kRounds = 1200;
  set_log_level(LogLevel::error);
  const ModelCase good = read_case(GetParam());
  Random random(7);
  int count = 0;
  for (int i = 0; i < kRounds; ++i) {
    EditedArchive archive(model_path(GetParam()));
    const bool of_weights = random() % 5 == 0;
    json& root =
        archive.json(of_weights ? "data/weights/model_weights_config.json"
                                : "models/model.json");
    json& part =
        of_weights || random() % 4 == 0
            ? root
            : root["graph_module"][random() % 2 ? "graph" : "signature"];
    for (int changes = 1 + random() % 3; changes > 0; --changes)
      change(part, random);
    count += refused(archive.write(), good);
  }
  EXPECT_GT(count, kRounds / 4);
  set_log_level(LogLevel::warning);
}

INSTANTIATE_TEST_SUITE_P(All, FuzzGraph,
                         ::testing::Values("nested", "counter_decomposed",
                                         "dynamic"),
                         [](const auto& info) { return info.param; });

}  // namespace TEST_FILE
}  // namespace fxjit
