// A good archive whose entries a test changes before it is loaded.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fxjit::testing_import {

class EditedArchive {
 public:
  explicit EditedArchive(const std::string& path);
  ~EditedArchive();  // Removes the file that was written.
  EditedArchive(const EditedArchive&) = delete;
  EditedArchive& operator=(const EditedArchive&) = delete;

  // Names are below the archive's root folder.
  void set(const std::string& name, const std::string& content);
  void remove(const std::string& name);
  std::vector<std::string> names() const;
  // The content as JSON, which is written as the caller leaves it.
  nlohmann::json& json(const std::string& name);
  // A further entry of this whole name.
  void set_raw(const std::string& name, const std::string& content);
  void add_again(const std::string& name);

  // Path of the changed archive.
  std::string write();

 private:
  std::string root_;
  std::string file_;
  std::map<std::string, std::string> entries_;
  std::map<std::string, nlohmann::json> json_;
  std::vector<std::pair<std::string, std::string>> further_;
};

// The bytes of a file, and a file of these bytes in the tests' folder.
std::string read_bytes(const std::string& path);
std::string write_bytes(const std::string& name, const std::string& bytes);

}  // namespace fxjit::testing_import
