// What cases about replace_pattern share.
#pragma once

#include <string>
#include <vector>

#include "fxjit/fx/subgraph_rewriter.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

class RewriterCase : public Case {
 protected:
  static std::string text_of(const Value& value) {
    return repr(value, [](const Value& leaf, const void*) {
      return leaf.is_node() ? std::string(leaf.as_node()->name())
                            : std::string(leaf.kind_name());
    });
  }
  static std::string line_of(const fx::Match& match) {
    std::string line = std::string(match.anchor->name()) + ":";
    for (const auto& [node, value] : match.nodes_map)
      line += " " + std::string(node->name()) + "=" + text_of(value);
    return line + " ->";
  }
  nn::Ref<fx::GraphModule> rewrite(
      const nn::Ref<fx::GraphModule>& gm,
      const std::vector<fx::ReplacedPatterns>& found) {
    std::string matches;
    for (const fx::ReplacedPatterns& match : found) {
      matches += (matches.empty() ? "" : "\n") + line_of(match);
      for (const fx::Node* node : match.replacements)
        matches += " " + std::string(node->name());
      if (match.replacements.empty()) matches += " ";
    }
    expect_text("matches", matches);
    expect_graph(gm);
    expect_code(gm);
    return gm;
  }
  nn::Ref<fx::GraphModule> rewrite(const nn::Ref<fx::GraphModule>& gm,
                                   const fx::Subgraph& pattern,
                                   const fx::Subgraph& replacement,
                                   const fx::RewriteOptions& options = {}) {
    return rewrite(gm, fx::replace_pattern_with_filters(*gm, pattern,
                                                        replacement, options));
  }
};

}  // namespace fxjit::mirror
