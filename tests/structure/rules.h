// The rules of the source tree as data, and the check of #include lines against
// them. Used by structure_test.cpp only; knows the file system, not fxjit.
#ifndef FXJIT_TESTS_STRUCTURE_RULES_H_
#define FXJIT_TESTS_STRUCTURE_RULES_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fxjit::structure {

// A part of the tree, and the parts it may include besides itself.
struct Box {
  std::string_view name;
  std::vector<std::string_view> folders;  // Prefixes of its files' paths.
  std::vector<std::string_view> uses;     // With all that those use.
};

// In dependency direction: a box's `uses` stand before it.
const std::vector<Box>& boxes();

// A third-party library and the only folders that may include its headers.
struct Room {
  std::string_view header_prefix;
  std::vector<std::string_view> folders;
};

const std::vector<Room>& rooms();

// One line for each heavy header of the standard library that fxjit.h includes,
// directly or not.
std::vector<std::string> check_core(const std::filesystem::path& root);

// One line per violation, "path:line: what is wrong", over every .h and .cpp
// file below the boxes' folders of `root`; empty if the tree is in order.
std::vector<std::string> check_includes(const std::filesystem::path& root);

// The same for what every file must look like: headers open with a comment,
// no file is above the size limit.
std::vector<std::string> check_files(const std::filesystem::path& root);

// The same for comparisons with an op's name, by text, in a table or by the
// address of what was looked up, outside of src/ops; of graphs and passes also
// with the names of its methods and functions and with those of Python's.
std::vector<std::string> check_op_names(const std::filesystem::path& root);
// How many names that check knows, read from the rows of src/ops/families.
int count_op_names(const std::filesystem::path& root);

// How many source files the first two checks read; a test's proof that they
// did.
int count_files(const std::filesystem::path& root);

}  // namespace fxjit::structure

#endif  // FXJIT_TESTS_STRUCTURE_RULES_H_
