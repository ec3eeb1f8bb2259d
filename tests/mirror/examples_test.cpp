// Small models of several trades, each for one thing that tracing does.
#include <cmath>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Examples)

namespace TEST_FILE {

using fx::Opcode;
using fx::symbolic_trace;

class ColourGrade : public nn::Custom<ColourGrade> {
 public:
  ColourGrade() : Custom("ColourGrade", {"pixels"}) {
    black = register_parameter("black", Tensor::zeros({3}));
    mix = register_module("mix", nn::Linear::create(3, 3));
  }
  Value forward(Value pixels) {
    const Value graded = mix(pixels - black);
    return method(graded, "clamp", {}, {{"min", 0.0}, {"max", 1.0}});
  }
  nn::Parameter black;
  nn::Ref<nn::Linear> mix;
};

class Denoiser : public nn::Custom<Denoiser> {
 public:
  Denoiser(int steps, bool residual)
      : Custom("Denoiser", {"signal"}), steps(steps), residual(residual) {
    smooth = register_module("smooth", nn::Linear::create(8, 8));
  }
  Value forward(Value signal) {
    Value noise = signal;
    for (int i = 0; i < steps; ++i) noise = tanh(smooth(noise));
    return residual ? signal - noise : noise;
  }
  const int steps;
  const bool residual;
  nn::Ref<nn::Linear> smooth;
};

class Spectrum : public nn::Custom<Spectrum> {
 public:
  Spectrum() : Custom("Spectrum", {"frames"}) {
    bands = register_module("bands", nn::Linear::create(4, 3));
  }
  Value forward(Value frames) { return relu(bands(frames * fill({4}, 2))); }
  nn::Ref<nn::Linear> bands;
};

class EveryLayer : public fx::Tracer {
 public:
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return false;
  }
};

class QuarterTurn : public nn::Custom<QuarterTurn> {
 public:
  QuarterTurn() : Custom("QuarterTurn", {"points"}) {
    sign = register_buffer("sign", Tensor::zeros({2}));
  }
  Value forward(Value points) {
    const Value swapped = function("torch.flip", {points, Value::tuple({1})});
    return swapped * sign;
  }
  nn::Parameter sign;
};

class Camera : public nn::Custom<Camera> {
 public:
  Camera() : Custom("Camera", {"points"}) {
    project = register_module("project", nn::Linear::create(3, 2));
    turn = register_module("turn", QuarterTurn::create());
  }
  Value forward(Value points) { return turn(project(points)); }
  nn::Ref<nn::Linear> project;
  nn::Ref<QuarterTurn> turn;
};

class TiedAutoencoder : public nn::Custom<TiedAutoencoder> {
 public:
  TiedAutoencoder() : Custom("TiedAutoencoder", {"x"}) {
    encode = register_module("encode", nn::Linear::create(6, 2));
  }
  Value forward(Value x) {
    const Value code = tanh(encode(x));
    return operators::matmul(code, encode->weight);
  }
  nn::Ref<nn::Linear> encode;
};

class Track : public nn::Custom<Track> {
 public:
  explicit Track(int seed) : Custom("Track", {"sound"}) {
    set_attr("pan", fill({2}, seed));
    gain = register_parameter("gain", Tensor::zeros({1}));
  }
  Value forward(Value sound) {
    const Value placed = sound * attr("pan");
    return placed * gain;
  }
  nn::Parameter gain;
};

class Console : public nn::Custom<Console> {
 public:
  Console() : Custom("Console", {"sounds"}) {
    tracks = register_module(
        "tracks", nn::ModuleList::create(Track::create(0), Track::create(1),
                                         Track::create(2)));
    master = register_module("master", Track::create(3));
  }
  Value forward(Value sounds) {
    Value mix = 0.0;
    int i = 0;
    for (const nn::ModuleRef& track : tracks->modules()) {
      const Value played = track(getitem(sounds, i++));
      mix = played + mix;
    }
    return master(mix);
  }
  nn::Ref<nn::ModuleList> tracks;
  nn::Ref<Track> master;
};

class Fusion : public nn::Custom<Fusion> {
 public:
  Fusion()
      : Custom("Fusion", {"sensor", "prior", "*corrections", "**weather"}) {
    offset = register_parameter("offset", Tensor::zeros({3, 4}));
    decide = register_module("decide", nn::Linear::create(4, 5));
  }
  Value forward(Value sensor, Value prior, Value corrections, Value weather) {
    Value state = method(getitem(sensor, "level"), "clone");
    state -= getitem(sensor, "drift");
    state += prior;
    state *= getitem(getitem(corrections, 0), "wind");
    state += getitem(weather, "pressure");
    const Value shifted = state + offset;
    const Value votes =
        operators::matmul(shifted, fx::getattr(decide->weight, "T"));
    const Value odds = method(votes, "softmax", {}, {{"dim", -1}});
    return {{"state", state}, {"odds", odds}};
  }
  nn::Parameter offset;
  nn::Ref<nn::Linear> decide;
};

MIRROR_CASE(Examples, colour_grading) {
  const auto gm = symbolic_trace(filled(ColourGrade::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  expect_outputs(gm, {fill({4, 3}, 1)});
}

MIRROR_CASE(Examples, branches_on_data_and_on_shapes) {
  expect_error([] {
    symbolic_trace(
        [](Value signal) -> Value {
          const Value loudest = method(method(signal, "abs"), "max");
          return loudest > 0.5 ? signal : signal * 0;
        },
        {"signal"});
  });
  expect_error([] {
    symbolic_trace(
        [](Value signal) -> Value {
          const Value channels = getitem(fx::getattr(signal, "shape"), 0);
          return channels == 2 ? method(signal, "mean", {0}) : signal;
        },
        {"signal"});
  });
}

MIRROR_CASE(Examples, options_decide_the_graph) {
  for (const auto& [steps, residual] : {std::pair{1, false}, {3, true}}) {
    const auto gm = symbolic_trace(filled(Denoiser::create(steps, residual)));
    expect_code(gm);
    expect_outputs(gm, {fill({2, 8})});
  }
}

MIRROR_CASE(Examples, flag_by_closure) {
  const auto celsius = [](Value reading, Value fahrenheit) -> Value {
    return fahrenheit ? (reading - 32) / 1.8 : reading;
  };
  expect_error([&] { symbolic_trace(celsius, {"reading", "fahrenheit"}); });
  for (bool fahrenheit : {true, false}) {
    const auto gm = symbolic_trace(
        [&](Value reading) -> Value { return celsius(reading, fahrenheit); },
        {"reading"});
    expect_graph(gm);
    expect_code(gm);
    expect_outputs(gm, {fill({3})});
  }
}

MIRROR_CASE(Examples, wrapped_builtins) {
  const fx::Wrapped len =
      fx::wrap("len", [](Value x) -> Value { return x.as_tensor().size(0); });
  const auto gm = symbolic_trace(
      [&](Value samples) -> Value {
        const Value spread = method(samples, "std");
        return spread / fx::math::sqrt(len(samples));
      },
      {"samples"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({4, 2})});
}

MIRROR_CASE(Examples, tracer_without_leaves) {
  const auto module = filled(Spectrum::create());
  EveryLayer tracer;
  auto graph = tracer.trace(*module);
  const auto gm = fx::GraphModule::create(*module, std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({5, 4})});
}

MIRROR_CASE(Examples, leaf_modules) {
  const auto gm = symbolic_trace(filled(Camera::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Examples, parameter_of_submodule) {
  const auto gm = symbolic_trace(filled(TiedAutoencoder::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({4, 6})});
}

MIRROR_CASE(Examples, proxy_operations) {
  fx::Tracer tracer;
  fx::Graph graph;
  tracer.graph = &graph;
  const Value celsius =
      tracer.create_proxy(Opcode::placeholder, "celsius", {}, {});
  celsius * 1.8;
  method(celsius, "clamp", {}, {{"min", -40}});
  abs(celsius);
  ValueList ops;
  for (const fx::Node* node : graph.nodes())
    ops.emplace_back(fx::opcode_name(node->op()));
  expect_value("ops", Value::list(ops));
  expect_graph(graph);
}

MIRROR_CASE(Examples, tensor_attributes) {
  const auto gm = symbolic_trace(filled(Console::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3, 2})});
}

MIRROR_CASE(Examples, loop_of_fixed_length) {
  const auto newton_root = [](Value x, int rounds) {
    Value guess = (x + 1) / 2;
    for (int i = 0; i < rounds; ++i) {
      const Value quotient = x / guess;
      guess = (guess + quotient) / 2;
    }
    return guess;
  };
  const auto gm = symbolic_trace(
      [&](Value x) -> Value { return newton_root(x, 3); }, {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {Value(fill({6})) + 2});
}

MIRROR_CASE(Examples, variadic_module) {
  const auto gm = symbolic_trace(filled(Fusion::create()));
  expect_graph(gm);
  expect_code(gm);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
