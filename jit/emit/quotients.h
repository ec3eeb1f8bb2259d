// Finds the products of a body that are emitted as one quotient: tanh(x) *
// sigmoid(y), the gate of recurrent and of dilated networks, and z *
// sigmoid(y). One division then takes the place of two. The sigmoid, and the
// tanh, must have no other use.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/scalar_body.h"

namespace fxjit::jit {

class Quotients {
 public:
  // `body` must outlive the object.
  explicit Quotients(const ScalarBody& body);

  // How a product is emitted: as factor * sigmoid(...), if nothing else reads
  // the sigmoid.
  struct Product {
    int32_t sigmoid = -1;  // -1: an ordinary product.
    int32_t factor = -1;
    bool is_gate = false;  // The factor is a tanh that nothing else reads.
  };
  const Product& product(int32_t id) const { return products_[size_t(id)]; }
  // Whether the value is a part of such a product and has no other use.
  bool is_part(int32_t id) const { return is_part_[size_t(id)]; }

 private:
  void find_products();
  bool is_lone(int32_t id, Prim prim) const;

  const ScalarBody& body_;
  std::vector<int32_t> uses_;
  std::vector<Product> products_;
  std::vector<bool> is_part_;
};

}  // namespace fxjit::jit
