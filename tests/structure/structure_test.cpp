#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "tests/structure/rules.h"

namespace fxjit::structure {
namespace TEST_FILE {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A tree of planted files in a fresh folder, removed at the end.
class PlantedTree : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "fxjit_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }

  void TearDown() override { fs::remove_all(root_); }

  void plant(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  // The one violation that `text` at `path` is.
  std::string violation(const std::string& path, const std::string& text) {
    plant(path, text);
    const std::vector<std::string> found = check_includes(root_);
    fs::remove(root_ / path);
    EXPECT_EQ(found.size(), 1u) << path << ": " << text;
    return found.empty() ? "" : found.front();
  }

  fs::path root_;
};

TEST(Structure, IncludesFollowTheRules) {
  EXPECT_GT(count_files(FXJIT_SOURCE_DIR), 10);
  EXPECT_THAT(check_includes(FXJIT_SOURCE_DIR), IsEmpty());
}

TEST(Structure, FilesStaySmallAndHeadersSayWhatTheyAre) {
  EXPECT_THAT(check_files(FXJIT_SOURCE_DIR), IsEmpty());
}

// What emitters read of a step's form is hashed for the caches of compiled
// code.
TEST(Structure, FormsThatEmittersReadAreHashed) {
  std::ifstream list(FXJIT_BINARY_DIR "/generated/generator_sources.txt");
  std::set<std::string> hashed;
  for (std::string line; std::getline(list, line);) hashed.insert(line);
  ASSERT_FALSE(hashed.empty());
  int found = 0;
  const std::string root = FXJIT_SOURCE_DIR "/";
  for (const auto& file : fs::recursive_directory_iterator(root + "jit/emit")) {
    std::ifstream text(file.path());
    for (std::string line; std::getline(text, line);) {
      if (!line.starts_with("#include \"src/program/")) continue;
      const size_t begin = line.find('"') + 1;
      const std::string header = line.substr(begin, line.rfind('"') - begin);
      EXPECT_TRUE(hashed.contains(root + header))
          << file.path() << ": " << line;
      ++found;
    }
  }
  EXPECT_GT(found, 10);
}

// Files of a box are compiled together, and many have helpers of one name.
TEST(Structure, TestFilesHaveNamespacesOfTheirOwn) {
  int found = 0;
  const std::string root = FXJIT_SOURCE_DIR "/tests";
  for (const auto& file : fs::recursive_directory_iterator(root)) {
    if (!file.path().string().ends_with("_test.cpp")) continue;
    ++found;
    std::ifstream text(file.path());
    for (std::string line; std::getline(text, line);)
      EXPECT_NE(line, "namespace {")
          << file.path() << ": it should be namespace TEST_FILE";
  }
  EXPECT_GT(found, 100);
}

// The suite also runs on machines without PyTorch.
TEST(Structure, PythonTestsAskForTorchBeforeTheyImportIt) {
  int asked = 0;
  for (const auto& file :
       fs::directory_iterator(FXJIT_SOURCE_DIR "/tests/python")) {
    if (!file.path().filename().string().starts_with("test_")) continue;
    std::ifstream text(file.path());
    bool known = false;
    for (std::string line; std::getline(text, line);) {
      if (line.find("importorskip(\"torch\"") != line.npos) known = true;
      if (line.starts_with("import torch") || line.starts_with("from torch"))
        EXPECT_TRUE(known) << file.path() << ": pytest.importorskip first";
    }
    asked += known;
  }
  EXPECT_GT(asked, 10);
}

TEST(Structure, NothingBelowTheOpsComparesWithAnOpsName) {
  EXPECT_GT(count_op_names(FXJIT_SOURCE_DIR), 600);
  EXPECT_THAT(check_op_names(FXJIT_SOURCE_DIR), IsEmpty());
}

TEST_F(PlantedTree, ComparisonsWithOpNamesAreFound) {
  plant(
      "src/ops/families/a.cpp",
      "constexpr OpRow kRows[] = {\n    {.name = \"cast\",\n"
      "     .schema = \"input\"},\n    row(\n        \"conv2d\", kSchema)};\n");
  EXPECT_EQ(count_op_names(root_), 2);
  const auto finds = [&](const std::string& code, std::string_view op) {
    plant("kernels/a.cpp", "\n" + code);
    const std::vector<std::string> found = check_op_names(root_);
    EXPECT_THAT(found, ElementsAre(HasSubstr("'" + std::string(op) + "'")))
        << code;
    EXPECT_THAT(found, ElementsAre(HasSubstr("kernels/a.cpp:2: "))) << code;
  };
  finds("if (op.name() == \"cast\")", "cast");
  finds("if (name!=\"conv2d\")", "conv2d");
  finds("if (\"cast\" == op->name())", "cast");
  finds("if (op.name().starts_with(\"conv2d\"))", "conv2d");
  finds("if (op.name().find(\"conv\") != npos)", "conv");
  finds("if (&op == &ops::get_op(\"cast\"))", "cast");
  finds("const Op& cast = get_op(\"cast\"); if (&op != &cast)", "cast");
  finds("std::ranges::find(kRows, call.op.name(), &Row::op);", "kRows");
  finds("kRows.contains(node->called_op()->name())", "a table");
}

TEST_F(PlantedTree, ComparisonsBesideTheCompilerAreFound) {
  plant("src/ops/families/a.cpp", "{.name = \"cast\", .schema = \"x\"},\n");
  const auto finds = [&](const std::string& code, std::string_view op) {
    plant("src/import/onnx/a.cpp", "\n" + code);
    EXPECT_THAT(check_op_names(root_),
                ElementsAre(HasSubstr("'" + std::string(op) + "'")))
        << code;
  };
  finds("if (op.name() == \"to\")", "to");
  finds("if (\"to\" != node->called_op()->name())", "to");
  finds("const std::string_view name = op.name();\nif (name == \"to\")", "to");
  finds("std::ranges::find(kUpdates, op.name(), &Update::name);", "kUpdates");
  finds("if (&op == &ops::get_op(\"cast\"))", "cast");
}

TEST_F(PlantedTree, ComparisonsWithNamesOfCallsAreFound) {
  plant(
      "src/ops/families/a.cpp",
      "    view_row(\"numel\", \"input\", \"torch.numel .numel .nelement\"),\n"
      "    {.name = \"cast\", .schema = \"x\", .names = \"\"},\n");
  plant("src/ops/python/a.cpp",
        "constexpr std::string_view kSet = \"__setitem__\";\n"
        "    {\"delitem\", 2, 1, delitem},\n");
  const auto finds = [&](const std::string& code, std::string_view name) {
    for (const char* file : {"src/fx/a.cpp", "src/passes/memory/a.cpp"}) {
      plant(file, "\n" + code);
      EXPECT_THAT(check_op_names(root_),
                  ElementsAre(HasSubstr(std::string(file) +
                                        ":2: compares with "
                                        "the op's name '" +
                                        std::string(name) + "'")))
          << code;
      fs::remove(root_ / file);
    }
  };
  finds("if (node.target_name() == \"_operator.setitem\")",
        "_operator.setitem");
  finds("if (\"builtins.len\" != function.name)", "builtins.len");
  finds("if (name.starts_with(\"torch.nn.functional.gelu\"))",
        "torch.nn.functional.gelu");
  finds("if (method == \"nelement\")", "nelement");
  finds("if (name == \"numel\")", "numel");
  finds("return name == \"delitem\";", "delitem");
  finds("if (node.target_name() == \"__setitem__\")", "__setitem__");
}

TEST_F(PlantedTree, NamesThatAreNoCallsPass) {
  plant("src/ops/families/a.cpp",
        "{.name = \"cast\", .names = \".type_as\"},\n");
  plant("src/ops/python/a.cpp", "    {\"setitem\", 3, 1, setitem},\n");
  const std::string code =
      "if (name.starts_with(\"_operator.\") || module == \"builtins\")\n"
      "if (name.starts_with(\"torch.sym_\"))\n"
      "if (attribute == \"shape\" || name == \"None\")\n"
      "const Target len = find(\"builtins.len\");\n"
      "{\"setitem\", run},\n";
  plant("src/fx/a.cpp", code);
  plant("src/fx/passes/a.cpp", "if (name == \"_operator.setitem\")\n");
  plant("src/passes/a.cpp", code);
  plant("src/passes/patterns/a.cpp", "if (name == \"builtins.len\")\n");
  EXPECT_THAT(check_op_names(root_), IsEmpty());
}

TEST_F(PlantedTree, OtherUsesOfOpNamesPass) {
  plant("src/ops/families/a.cpp", "{.name = \"cast\", .schema = \"x\"},\n");
  plant("src/passes/patterns/a.cpp", "if (op.name() == \"cast\")\n");
  plant("src/ops/a.cpp", "if (op.name() == \"cast\")\n");
  plant("src/fx/passes/a.cpp", "if (op.name() == \"cast\")\n");
  plant("src/nn/a.cpp", "if (mode == \"cast\")\n");
  plant("src/passes/a.cpp",
        "call(b, \"cast\", {x});\n"
        "const Op& cast = get_op(\"cast\");\nb.call(cast, {x});\n"
        "if (option == \"greedy\") name.find('.');\n");
  EXPECT_THAT(check_op_names(root_), IsEmpty());
}

TEST_F(PlantedTree, AllowedIncludesPass) {
  plant("include/fxjit/tensor.h", "// A.\n#include <vector>\n");
  plant("src/ops/a.cpp", "#include \"fxjit/tensor.h\"\n");
  plant("src/ops/b.cpp", "#include \"src/support/x.h\"\n#include <cmath>\n");
  plant("jit/c.cpp", "#include <llvm/IR/Module.h>\n#include \"jit/c.h\"\n");
  plant("kernels/onednn/d.cpp", "#include <dnnl.hpp>\n");
  plant("src/compile/e.cpp", "#include \"jit/c.h\"\n#include <unistd.h>\n");
  plant("tests/jit/f.cpp", "#include <llvm/IR/Module.h>\n");
  EXPECT_EQ(count_files(root_), 7);
  EXPECT_THAT(check_includes(root_), IsEmpty());
  EXPECT_THAT(check_files(root_), IsEmpty());
}

TEST_F(PlantedTree, UsesAgainstTheDirectionAreFound) {
  EXPECT_EQ(violation("src/ops/a.cpp", "\n#include \"src/fx/graph.h\"\n"),
            "src/ops/a.cpp:2: includes src/fx/graph.h: ops must not use fx");
  EXPECT_THAT(violation("src/tensor/a.h", "#include \"fxjit/fx/node.h\"\n"),
              HasSubstr("tensor must not use fx"));
  EXPECT_THAT(violation("include/fxjit/error.h", "#include \"fxjit/op.h\"\n"),
              HasSubstr("support must not use ops"));
  EXPECT_THAT(violation("src/io/a.cpp", "#include \"fxjit/op.h\"\n"),
              HasSubstr("io must not use ops"));
  EXPECT_THAT(violation("jit/a.cpp", "#include \"kernels/k.h\"\n"),
              HasSubstr("jit must not use kernels"));
  EXPECT_THAT(violation("kernels/a.cpp", "  #  include \"jit/j.h\"\n"),
              HasSubstr("kernels must not use jit"));
  EXPECT_THAT(
      violation("src/fx/a.cpp", "#include \"fxjit/fx/passes/split.h\"\n"),
      HasSubstr("fx must not use fx_passes"));
  EXPECT_THAT(
      violation("src/passes/a.cpp", "#include \"src/fx/passes/split.h\"\n"),
      HasSubstr("passes must not use fx_passes"));
  EXPECT_THAT(violation("src/passes/a.cpp", "#include \"examples/e.h\"\n"),
              HasSubstr("passes must not use examples"));
}

TEST(Structure, TheCoreNeedsNoHeavyHeaders) {
  EXPECT_THAT(check_core(FXJIT_SOURCE_DIR), IsEmpty());
}

TEST_F(PlantedTree, HeavyHeadersBelowTheCoreAreFound) {
  plant("include/fxjit/fxjit.h", "#include \"fxjit/tensor.h\"\n");
  plant("include/fxjit/tensor.h", "#include <vector>\n#include <random>\n");
  plant("include/fxjit/random.h", "#include <random>\n");
  EXPECT_THAT(check_core(root_),
              ElementsAre("include/fxjit/tensor.h:2: fxjit.h must not need "
                          "<random>"));
}

TEST_F(PlantedTree, ThirdPartyHeadersOutsideTheirRoomsAreFound) {
  const auto kRoom = HasSubstr("third-party header outside its room");
  const std::string llvm = "#include <llvm/IR/Module.h>\n";
  EXPECT_THAT(violation("src/compile/a.cpp", llvm), kRoom);
  EXPECT_THAT(violation("tests/compile/a.cpp", llvm), kRoom);
  EXPECT_THAT(violation("kernels/onednn/a.cpp", llvm), kRoom);
  EXPECT_THAT(violation("kernels/a.cpp", "#include <dnnl.hpp>\n"), kRoom);
  EXPECT_THAT(violation("jit/a.cpp", "#include <oneapi/dnnl/dnnl.h>\n"), kRoom);
  EXPECT_THAT(violation("src/fx/a.cpp", "#include <nlohmann/json.hpp>\n"),
              kRoom);
}

TEST_F(PlantedTree, PublicHeadersIncludeOnlyStandardAndPublicOnes) {
  const auto kPublic = HasSubstr("public headers include only");
  const std::string header = "include/fxjit/compile.h";
  EXPECT_THAT(violation(header, "#include <llvm/IR/Module.h>\n"), kPublic);
  EXPECT_THAT(violation(header, "#include <unistd.h>\n"), kPublic);
  EXPECT_THAT(violation(header, "#include \"src/ops/table/schema.h\"\n"),
              kPublic);
}

TEST_F(PlantedTree, UnknownPlacesAreFound) {
  EXPECT_THAT(violation("src/ops/a.cpp", "#include \"schema.h\"\n"),
              HasSubstr("no box has this header"));
  EXPECT_THAT(violation("src/ops/a.cpp", "#include \"../fx/graph.h\"\n"),
              HasSubstr("no box has this header"));
  EXPECT_THAT(violation("src/novel/a.cpp", ""), HasSubstr("belongs to no box"));
  EXPECT_THAT(violation("examples/a.cpp", "#include \"src/fx/a.h\"\n"),
              HasSubstr("examples use public headers only"));
}

TEST_F(PlantedTree, LongFilesAndSilentHeadersAreFound) {
  plant("src/ops/a.cpp", std::string(401, '\n'));
  plant("src/ops/b.h", "#ifndef B\n");
  EXPECT_THAT(check_files(root_),
              ElementsAre(HasSubstr("401 lines"), HasSubstr("opens with")));
}

}  // namespace TEST_FILE
}  // namespace fxjit::structure
