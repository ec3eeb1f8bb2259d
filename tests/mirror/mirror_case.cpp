#include "tests/mirror/mirror_case.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fxjit/log.h"
#include "tests/mirror/values.h"

namespace fxjit::mirror {
namespace {

const ::testing::TestInfo& current() {
  return *::testing::UnitTest::GetInstance()->current_test_info();
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += (&line == lines.data() ? "" : "\n") + line;
  return text;
}

// The Python class that an error stands for.
std::string python_type(const Error& error) {
  if (dynamic_cast<const TraceError*>(&error)) return "TraceError";
  if (dynamic_cast<const NameError*>(&error)) return "NameError";
  if (dynamic_cast<const TypeError*>(&error)) return "TypeError";
  if (dynamic_cast<const ValueError*>(&error)) return "ValueError";
  if (dynamic_cast<const IndexError*>(&error)) return "IndexError";
  if (dynamic_cast<const KeyError*>(&error)) return "KeyError";
  if (dynamic_cast<const AttributeError*>(&error)) return "AttributeError";
  if (dynamic_cast<const SyntaxError*>(&error)) return "SyntaxError";
  if (dynamic_cast<const NotImplementedError*>(&error))
    return "NotImplementedError";
  if (dynamic_cast<const AssertionError*>(&error)) return "AssertionError";
  if (dynamic_cast<const RuntimeError*>(&error)) return "RuntimeError";
  return dynamic_cast<const UserError*>(&error) ? "UserError" : "InternalError";
}

// For the job that runs C++'s code by torch (run_exported.py).
void export_code(const std::string& name, const fx::GraphModule& module,
                 const std::vector<std::string>& outputs) {
  const char* const folder = std::getenv("FXJIT_MIRROR_EXPORT");
  if (folder == nullptr) return;
  const std::filesystem::path target = std::filesystem::path(folder) / name;
  std::filesystem::create_directories(target);
  std::ofstream(target / "code.py") << module.code();
  module.to_folder(target / "package", "Exported");
  std::ofstream(target / "outputs.txt") << join(outputs);
}

}  // namespace

Tensor fill(const Dims& sizes, int seed, DType dtype) {
  const Tensor wide = Tensor::empty(sizes, DType::f64);
  for (int64_t i = 0; i < wide.numel(); ++i) {
    const int64_t whole = i * 7 + i / 5 + int64_t{seed} * 13;
    double value = static_cast<double>(whole % 10);
    if (dtype == DType::boolean) value = whole % 3 == 0;
    if (is_floating(dtype)) value = static_cast<double>(whole % 17 - 8) / 8;
    wide.data_as<double>()[i] = value;
  }
  return wide.to(dtype);
}

namespace {

int seed_of(std::string_view name) {
  int seed = 0;
  for (char c : name) seed += static_cast<unsigned char>(c);
  return seed;
}

}  // namespace

void fill_parameters(nn::Module& module) {
  for (const auto& [name, parameter] : module.named_parameters())
    parameter.set_tensor(
        fill(parameter.sizes(), seed_of(name), parameter.dtype()));
  for (const auto& [name, buffer] : module.named_buffers()) {
    if (!is_floating(buffer.dtype())) continue;
    Value value = fill(buffer.sizes(), seed_of(name), buffer.dtype());
    if (name.ends_with("running_var")) value = abs(value) + 0.5;
    buffer.set_tensor(value.as_tensor());
  }
  module.eval();
}

void Case::SetUp() {
  const ExpectedCases cases =
      read_expected(area_of(current().test_suite_name()));
  const auto found = cases.find(current().name());
  ASSERT_NE(found, cases.end()) << "torch's side has no such case";
  sections_ = found->second;
}

void Case::TearDown() {
  if (HasFailure()) return;
  EXPECT_EQ(used_, sections_.size())
      << "sections of torch's side that were not compared";
}

std::string Case::next(const std::string& kind) {
  if (used_ >= sections_.size()) {
    ADD_FAILURE() << "torch's side has no further section, wanted " << kind;
    return "";
  }
  const Section& section = sections_[used_++];
  EXPECT_EQ(section.kind, kind) << "section " << used_;
  return section.text;
}

void Case::compare(const std::string& kind, const std::string& got) {
  const std::string expected = next(kind);
  EXPECT_EQ(got, expected) << "section " << used_ << ", " << kind;
}

void Case::expect_graph(const fx::Graph& graph) {
  compare("graph", graph.str());
}

void Case::expect_code(const fx::Graph& graph) {
  compare("code", graph.python_code("self").src);
}

void Case::expect_code(const nn::Ref<fx::GraphModule>& module) {
  compare("code", module->code());
}

void Case::expect_tabular(const fx::Graph& graph) {
  compare("tabular", graph.tabular());
}

void Case::expect_text(const std::string& label, const std::string& text) {
  compare("text " + label, text);
}

void Case::expect_value(const std::string& label, const Value& value) {
  const std::string expected = next("value " + label);
  EXPECT_EQ(difference(describe(value), split_lines(expected), 1e-5, 1e-6), "")
      << label;
}

void Case::expect_error(const std::function<void()>& function,
                        std::string_view until) {
  try {
    function();
  } catch (const Error& error) {
    const size_t end =
        until.empty() ? std::string::npos : error.message().find(until);
    compare("error " + python_type(error), error.message().substr(0, end));
    // Our own facts follow in a line of their own.
    const std::string what = error.what();
    EXPECT_TRUE(what == error.message() ||
                what.starts_with(error.message() + "\n  "))
        << what;
    return;
  }
  ADD_FAILURE() << "no error; torch's:\n" << next("error");
}

void Case::expect_warning(const std::function<void()>& function) {
  std::vector<std::string> warnings;
  set_log_callback([&](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) warnings.emplace_back(message);
  });
  function();
  set_log_callback(nullptr);
  compare("warning", join(warnings));
}

void Case::expect_outputs(const nn::Ref<fx::GraphModule>& module,
                          const ValueList& inputs,
                          const OutputOptions& options) {
  const std::vector<std::string> expected = split_lines(next("outputs"));
  fx::Interpreter interpreter(*module);
  EXPECT_EQ(difference(describe(interpreter.run(inputs)), expected,
                       options.relative, options.absolute),
            "")
      << "by the interpreter";
  CompileOptions compile;
  compile.threads = 1;
  compile.cache_folder = "";
  module->compile(compile);
  const std::vector<std::string> compiled = describe(module->call(inputs, {}));
  EXPECT_EQ(difference(compiled, expected, options.relative, options.absolute),
            "")
      << "compiled";
  expect_native(*module, options);
  export_code(area_of(current().test_suite_name()) + "." + current().name() +
                  "." + std::to_string(exported_++),
              *module, compiled);
}

void Case::expect_native(const fx::GraphModule& module,
                         const OutputOptions& options) {
  const std::string report = module.report();
  ASSERT_NE(report, "") << "nothing was compiled";
  std::vector<std::string> eager;
  std::string interpreted;
  for (const std::string& line : split_lines(report)) {
    constexpr std::string_view kInterpreter = "  interpreter: ";
    constexpr std::string_view kEager = " (not native)  ";
    const size_t at = line.find(kEager);
    if (at != line.npos)
      eager.push_back(line.substr(at + kEager.size(),
                                  line.find("  <-") - at - kEager.size()));
    if (line.starts_with(kInterpreter))
      interpreted += line.substr(kInterpreter.size());
  }
  EXPECT_EQ(eager, options.eager) << report;
  EXPECT_EQ(interpreted.empty(), options.interpreted.empty()) << report;
  EXPECT_NE(interpreted.find(options.interpreted), interpreted.npos) << report;
}

}  // namespace fxjit::mirror
