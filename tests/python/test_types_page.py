"""The first table of docs/types.md says which code makes a product of which types."""

import pathlib

import fxjit
import numpy as np
import pytest
from onnx_files import write_model

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "types.md"


def rows_of_page():
    section = PAGE.read_text().split("## Both factors known to the call alone")[1]
    lines = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("| MatMul")]
    return [[cell.strip() for cell in line.strip("|").split("|")][:4] for line in lines]


ROWS = rows_of_page()


def test_page_has_the_types():
    assert len(ROWS) >= 10
    assert {"float32", "float64", "int8", "int64"} <= {left for _, left, _, _ in ROWS}


def numbers(dtype, sizes, seed):
    generator = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        return generator.integers(-8, 9, sizes).astype(dtype) / np.dtype(dtype).type(4)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, sizes, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("op, left, right, by", ROWS)
def test_product(tmp_path, op, left, right, by):
    result = "int32" if op == "MatMulInteger" else left
    path = write_model(tmp_path / "model.onnx", [(op, ["a", "b"], ["y"], {})],
                       {"a": (left, [12, 40]), "b": (right, [40, 24])}, {"y": (result, [12, 24])})
    model = fxjit.load(path)
    a, b = numbers(left, (12, 40), 1), numbers(right, (40, 24), 2)
    got = np.asarray(model(a, b))
    # Sums of 64 bits wrap as those of the type do, once they are cut to it.
    wide = np.int64 if np.issubdtype(result, np.integer) else np.float64
    np.testing.assert_array_equal(got, (a.astype(wide) @ b.astype(wide)).astype(result))
    products = [step["by"] for step in model.report().rows if "matmul" in step["label"]]
    # Halves are a routine's where the CPU has instructions for them.
    assert products[-1] == by or (left == "float16" and products[-1] == "routine"), products
