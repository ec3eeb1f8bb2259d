#!/usr/bin/env python3
"""Fits the tables and polynomials of jit/emit/vector_math.cpp.

    tools/fit_math_tables.py > jit/emit/math_tables.h

Needs numpy and scipy. Each coefficient is rounded to f32 from the constant
term up, and those above it are fitted again after each rounding, so that they
absorb its error. A fit is a least-squares fit on Chebyshev nodes, reweighted
(Lawson's method) until the greatest weighted error is nearly least.
"""

import numpy as np
from scipy import special

LN2 = np.log(2.0)


def chebyshev_nodes(low, high, count=240):
    angles = (2 * np.arange(count) + 1) * np.pi / (2 * count)
    return (low + high) / 2 + (high - low) / 2 * np.cos(angles)


def lawson(basis, target, weight, rounds=60):
    """Coefficients that nearly minimise the greatest weighted error."""
    scale = np.abs(basis).max(axis=0)
    matrix = basis / scale * weight[:, None]
    goal = target * weight
    importance = np.ones(len(goal))
    for _ in range(rounds):
        root = np.sqrt(importance)
        solution = np.linalg.lstsq(matrix * root[:, None], goal * root,
                                   rcond=None)[0]
        error = np.abs(matrix @ solution - goal)
        importance *= error + 1e-30
        importance = np.maximum(importance / importance.mean(), 1e-6)
    return solution / scale


def fit_powers(function, low, high, powers, weight=np.ones_like, fixed=()):
    """f32 coefficients of t**p for each p in `powers`, ascending. `fixed` are
    (power, coefficient) pairs that stand already."""
    nodes = chebyshev_nodes(low, high)
    nodes = nodes[np.abs(nodes) > 1e-6]
    remainder = function(nodes)
    for power, coefficient in fixed:
        remainder = remainder - coefficient * nodes**power
    result = []
    for first in range(len(powers)):
        basis = np.stack([nodes**p for p in powers[first:]], axis=1)
        exact = lawson(basis, remainder, weight(nodes))
        result.append(np.float32(exact[0]))
        remainder = remainder - float(result[-1]) * nodes**powers[first]
    return result


def fit_intervals(function, entries, step, degree, limit, tolerance):
    """One polynomial per interval around k * step, in t = u - k * step. The
    first has no constant term and is relatively accurate; the last is the
    constant `limit`. Errors count in units of tolerance(u)."""
    rows = [[np.float32(0)] + fit_powers(
        function, 0, step / 2, range(1, degree + 1), weight=lambda t: 1 / t)]
    for k in range(1, entries - 1):
        rows.append(fit_powers(
            lambda t, k=k: function(k * step + t), -step / 2, step / 2,
            range(degree + 1),
            weight=lambda t, k=k: 1 / tolerance(k * step + t)))
    rows.append([np.float32(limit)] + [np.float32(0)] * degree)
    return rows


def fit_ratio(function, high, degree, rounds=150):
    """f32 coefficients of P and Q, both 1 + ..., with function(t) nearly
    t P(t^2) / Q(t^2) for t up to `high`. Those of one power are rounded
    together, lowest first; the others are fitted again."""
    nodes = high * (1 - np.cos(np.pi * (np.arange(3000) + 0.5) / 3000)) / 2
    goal = function(nodes)

    def column(side, power):
        return (nodes if side == "p" else -goal) * nodes**(2 * power)

    known = {("p", 0): np.float32(1), ("q", 0): np.float32(1)}
    order = [(side, p) for p in range(1, degree + 1) for side in "pq"]
    for first in range(len(order)):
        free = order[first:]
        done = sum(float(c) * column(*key) for key, c in known.items())
        basis = np.stack([column(*key) for key in free], axis=1)
        scale = np.abs(basis).max(axis=0)
        divisor, importance = np.ones_like(nodes), np.ones_like(nodes)
        least = np.inf
        for _ in range(rounds):
            weight = np.sqrt(importance) / (goal * divisor)
            solution = np.linalg.lstsq(basis / scale * weight[:, None],
                                       -done * weight, rcond=None)[0] / scale
            values = known | dict(zip(free, solution))
            divisor = sum(float(values["q", p]) * nodes**(2 * p)
                          for p in range(degree + 1))
            error = np.abs((done + basis @ solution) / (goal * divisor))
            if error.max() < least:
                least, best = error.max(), values
            importance *= error / error.max() + 1e-6
            importance /= importance.mean()
        known[order[first]] = np.float32(best[order[first]])
    return [[known[side, p] for p in range(degree + 1)] for side in "pq"]


def literal(value):
    if value == 0:
        return "0.0f"
    mantissa, exponent = float(np.float32(value)).hex().split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}f"


def lines_of(values):
    return [", ".join(literal(v) for v in values[first:first + 4])
            for first in range(0, len(values), 4)]


def print_array(name, values, comment):
    print(f"// {comment}")
    print(f"inline constexpr float {name}[] = {{")
    for line in lines_of(values):
        print(f"    {line},")
    print("};\n")


def print_smooth(name, function, entries, step, degree, limit, tolerance):
    name = f"{name}{entries}"
    rows = fit_intervals(function, entries, step, degree, limit, tolerance)
    print(f"inline constexpr SmoothTable<{entries}, {degree}> k{name} = {{")
    print(f'    "{name}",')
    print(f"    {literal(step)},")
    print("    {")
    for power in range(degree + 1):
        lines = lines_of([row[power] for row in rows])
        print("      {" + ",\n       ".join(lines) + "},")
    print("    }};\n")


def ulp(value):
    return 2.0**(np.floor(np.log2(np.abs(value))) - 23)


def bump_tolerance(bump):
    """What u - bump(u) and -bump(u), the results on both sides, allow: units
    in the last place from 0.1 on, an absolute error below."""
    def tolerance(u):
        sides = np.stack([u - bump(u), bump(u)])
        return np.where(sides >= 0.1, ulp(sides), 3e-8).min(axis=0)
    return tolerance


def gelu_bump(u):
    return u * 0.5 * special.erfc(u / np.sqrt(2))


def gelu_tanh_bump(u):
    inner = np.sqrt(2 / np.pi) * (u + 0.044715 * u**3)
    return u / (1 + np.exp(2 * inner))


def split_ln2(bits_of_parts):
    """ln 2 as a sum of floats, each but the last with few mantissa bits."""
    parts, rest = [], LN2
    for bits in bits_of_parts:
        unit = 2.0**(np.floor(np.log2(abs(rest))) + 1 - bits)
        parts.append(np.float32(np.round(rest / unit) * unit))
        rest -= float(parts[-1])
    return parts + [np.float32(rest)]


HEADER = """\
// Tables and polynomials of vector_math.cpp. Made by
// tools/fit_math_tables.py, which describes the method; not edited by hand.
#pragma once

// clang-format off
namespace fxjit::jit {

// A function on u >= 0 in kEntries intervals, the k-th around k * step: there
// it is the polynomial in t = u - k * step whose coefficient of t^p is
// coefficients[p][k]. `step` has so few bits that k * step is exact. The last
// interval is the constant limit.
template <int kEntries, int kDegree>
struct SmoothTable {
  const char* name;
  float step;
  float coefficients[kDegree + 1][kEntries];
};
"""


def print_exp():
    for entries in (32, 16):
        print_array(f"kExpTable{entries}",
                    [2.0**(k / entries) for k in range(entries)],
                    f"2^(k/{entries}).")
        print_array(f"kExpQuadratic{entries}",
                    fit_powers(np.expm1, -LN2 / (2 * entries),
                               LN2 / (2 * entries), [1, 2]),
                    f"e^r - 1 = c1 r + c2 r^2, |r| <= ln 2 / {2 * entries}.")
    print_array("kExpPolynomial",
                fit_powers(np.expm1, -LN2 / 2, LN2 / 2, range(2, 7),
                           fixed=[(1, 1.0)]),
                "e^r - 1 - r from r^2 up, |r| <= ln 2 / 2.")


def print_log():
    print_array("kLogPolynomial",
                fit_powers(np.log1p, -0.25, 0.5, range(3, 10),
                           weight=lambda f: 1 / np.abs(np.log1p(f)),
                           fixed=[(1, 1.0), (2, -0.5)]),
                "log(1 + f) - f + f^2 / 2 from f^3 up, -1/4 <= f < 1/2.")


# From here on tanh is one, and the ratio rounds to it.
TANH_LIMIT = 9.0


def print_tanh_ratio():
    print("// tanh t = t P(t^2) / Q(t^2) for t up to the limit: P and Q.")
    print(f"inline constexpr double kTanhRatioLimit = {TANH_LIMIT};")
    print("inline constexpr float kTanhRatio[][5] = {")
    for polynomial in fit_ratio(np.tanh, TANH_LIMIT, 4):
        print("    {" + ", ".join(literal(c) for c in polynomial) + "},")
    print("};\n")


def main():
    print(HEADER)
    for name, bump, steps in (
            ("Gelu", gelu_bump, (0.37109375, 0.1796875)),
            ("GeluTanh", gelu_tanh_bump, (0.3515625, 0.169921875))):
        for entries, step, degree in zip((16, 32), steps, (5, 4)):
            print_smooth(name, bump, entries, step, degree, 0.0,
                         bump_tolerance(bump))
    for name, function, steps, degrees in (
            ("Tanh", np.tanh, (0.609375, 0.294921875), (6, 5)),
            ("Erf", special.erf, (0.265625, 0.12890625), (6, 4))):
        for entries, step, degree in zip((16, 32), steps, degrees):
            print_smooth(name, function, entries, step, degree, 1.0,
                         lambda u, f=function: ulp(f(u)))
    print_exp()
    print_log()
    print_tanh_ratio()
    print_array("kLn2Fma", split_ln2([24]), "ln 2 = sum, for fused steps.")
    print_array("kLn2Exact", split_ln2([15, 15]),
                "ln 2 = sum; the first two times |n| < 2^9 are exact.")
    print("}  // namespace fxjit::jit\n// clang-format on")


if __name__ == "__main__":
    main()
