"""Small models of several trades, each for one thing that tracing does."""

from math import sqrt

import torch
import torch.fx as fx
from torch.fx import symbolic_trace

from mirror import case, fill, filled

fx.wrap("len")
fx.wrap("sqrt")


@case
def colour_grading(m):
    class ColourGrade(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.black = torch.nn.Parameter(torch.rand(3))
            self.mix = torch.nn.Linear(3, 3)

        def forward(self, pixels):
            return self.mix(pixels - self.black).clamp(min=0.0, max=1.0)

    gm = symbolic_trace(filled(ColourGrade()))
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(gm, fill([4, 3], 1))


@case
def branches_on_data_and_on_shapes(m):
    def gate(signal):
        if signal.abs().max() > 0.5:
            return signal
        return signal * 0

    def to_mono(signal):
        if signal.shape[0] == 2:
            return signal.mean(0)
        return signal

    m.error(lambda: symbolic_trace(gate))
    m.error(lambda: symbolic_trace(to_mono))


@case
def options_decide_the_graph(m):
    class Denoiser(torch.nn.Module):
        def __init__(self, steps, residual):
            super().__init__()
            self.steps = steps
            self.residual = residual
            self.smooth = torch.nn.Linear(8, 8)

        def forward(self, signal):
            noise = signal
            for _ in range(self.steps):
                noise = torch.tanh(self.smooth(noise))
            return signal - noise if self.residual else noise

    for steps, residual in ((1, False), (3, True)):
        gm = symbolic_trace(filled(Denoiser(steps, residual)))
        m.code(gm)
        m.outputs(gm, fill([2, 8]))


@case
def flag_by_closure(m):
    def celsius(reading, fahrenheit):
        if fahrenheit:
            return (reading - 32) / 1.8
        else:
            return reading

    m.error(lambda: symbolic_trace(celsius))

    def with_unit(fahrenheit):
        return lambda reading: celsius(reading, fahrenheit)

    for fahrenheit in (True, False):
        gm = symbolic_trace(with_unit(fahrenheit))
        m.graph(gm)
        m.code(gm)
        m.outputs(gm, fill([3]))


@case
def wrapped_builtins(m):
    def standard_error(samples):
        return samples.std() / sqrt(len(samples))

    gm = symbolic_trace(standard_error)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([4, 2]))


@case
def tracer_without_leaves(m):
    class EveryLayer(fx.Tracer):
        def is_leaf_module(self, module, qualified_name):
            return False

    class Spectrum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bands = torch.nn.Linear(4, 3)

        def forward(self, frames):
            return torch.relu(self.bands(frames * fill([4], 2)))

    mod = filled(Spectrum())
    gm = fx.GraphModule(mod, EveryLayer().trace(mod))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([5, 4]))


@case
def leaf_modules(m):
    class QuarterTurn(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("sign", torch.tensor([-1.0, 1.0]))

        def forward(self, points):
            return torch.flip(points, (1,)) * self.sign

    class Camera(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.project = torch.nn.Linear(3, 2)
            self.turn = QuarterTurn()

        def forward(self, points):
            return self.turn(self.project(points))

    gm = symbolic_trace(filled(Camera()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3]))


@case
def parameter_of_submodule(m):
    class TiedAutoencoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encode = torch.nn.Linear(6, 2)

        def forward(self, x):
            return torch.tanh(self.encode(x)) @ self.encode.weight

    gm = symbolic_trace(filled(TiedAutoencoder()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([4, 6]))


@case
def proxy_operations(m):
    tracer = fx.Tracer()
    tracer.graph = fx.Graph()
    celsius = tracer.create_proxy("placeholder", "celsius", (), {})
    celsius * 1.8
    celsius.clamp(min=-40)
    torch.abs(celsius)
    m.value("ops", [node.op for node in tracer.graph.nodes])
    m.graph(tracer.graph)


@case
def tensor_attributes(m):
    class Track(torch.nn.Module):
        def __init__(self, seed):
            super().__init__()
            self.pan = fill([2], seed)
            self.gain = torch.nn.Parameter(torch.rand(1))

        def forward(self, sound):
            return sound * self.pan * self.gain

    class Console(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.tracks = torch.nn.ModuleList([Track(i) for i in range(3)])
            self.master = Track(3)

        def forward(self, sounds):
            mix = 0.0
            for i, track in enumerate(self.tracks):
                mix = track(sounds[i]) + mix
            return self.master(mix)

    gm = symbolic_trace(filled(Console()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([3, 2]))


@case
def loop_of_fixed_length(m):
    def newton_root(x, rounds):
        guess = (x + 1) / 2
        for _ in range(rounds):
            guess = (guess + x / guess) / 2
        return guess

    gm = symbolic_trace(lambda x: newton_root(x, 3))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([6]) + 2)


@case
def variadic_module(m):
    class Fusion(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.offset = torch.nn.Parameter(torch.rand(3, 4))
            self.decide = torch.nn.Linear(4, 5)

        def forward(self, sensor, prior, *corrections, **weather):
            state = sensor["level"].clone()
            state -= sensor["drift"]
            state += prior
            state *= corrections[0]["wind"]
            state += weather["pressure"]
            votes = (state + self.offset) @ self.decide.weight.T
            return {"state": state, "odds": votes.softmax(dim=-1)}

    gm = symbolic_trace(filled(Fusion()))
    m.graph(gm)
    m.code(gm)
