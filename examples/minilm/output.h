// What the minilm program prints: embeddings and notices, and whether standard
// output took them.
#pragma once

#include <cstddef>
#include <string>

#include "examples/minilm/embedder.h"

namespace minilm {

// A line of JSON, or the text and the first numbers.
void print(const Embedding& embedding, bool as_json);

// Tells on standard error that a text was cut, if it was.
void notice_truncation(const Embedding& embedding, size_t max_length);

// The beginning of a text, quoted, cut between characters; what a terminal
// could take for a command is escaped.
std::string beginning_of(const std::string& text);

// Throws fxjit::RuntimeError with the system's reason when something printed so
// far could not be written: a full disk, a closed pipe.
void check_output();

}  // namespace minilm
