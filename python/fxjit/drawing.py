"""Graphs as pictures for notebooks."""

from __future__ import annotations

import html
from typing import Any, NamedTuple

MOST_NODES = 400  # Drawn; more would be no picture any more.
_LETTER, _LINE, _BOX, _GAP, _ROW = 6.7, 15, 38, 18, 74  # Pixels.
_COLOURS = {"placeholder": "#dbe9d3", "output": "#dbe9d3", "call_function": "#dfe8f5",
            "call_method": "#dfe8f5", "call_module": "#efe2f3", "get_attr": "#eeeeee"}


class Node(NamedTuple):
    name: str
    op: str
    target: str
    inputs: list[str]


class Graph(str):
    """A graph as torch.fx prints it. Notebooks draw it; `nodes` has name, op, target and the
    names of the nodes it takes."""

    nodes: list[Node]

    def __new__(cls, text: str, nodes: list[Any]) -> Graph:
        made = super().__new__(cls, text)
        made.nodes = [Node(*node) for node in nodes]
        return made

    def _repr_svg_(self) -> str:
        return svg(self.nodes)


def svg(nodes: list[Node]) -> str:
    """Boxes in rows, each below what it takes. Attributes (weights) are left out."""
    drawn = [node for node in nodes if node.op != "get_attr"][:MOST_NODES]
    rows = _rows(drawn)
    places = _places(rows)
    width = max((x + w / 2 for x, _, w in places.values()), default=0) + _GAP
    height = len(rows) * _ROW + _GAP
    parts = [_edge(places[name], places[node.name])
             for node in drawn for name in node.inputs if name in places]
    parts += [_box(node, places[node.name]) for node in drawn]
    if len(drawn) == MOST_NODES:
        height += _LINE
        parts.append(f'<text x="{_GAP}" y="{height - 6}">the first {MOST_NODES} nodes</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            'font-family="ui-monospace, monospace" font-size="11">'
            f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>')


def _rows(nodes: list[Node]) -> list[list[Node]]:
    depth: dict[str, int] = {}
    rows: list[list[Node]] = []
    for node in nodes:
        row = 1 + max((depth[name] for name in node.inputs if name in depth), default=-1)
        depth[node.name] = row
        while len(rows) <= row:
            rows.append([])
        rows[row].append(node)
    return rows


def _width(node: Node) -> float:
    return max(len(node.name), len(_short(node.target))) * _LETTER + 16


def _short(target: str) -> str:
    return target if len(target) <= 40 else "…" + target[-39:]


def _places(rows: list[list[Node]]) -> dict[str, tuple[float, float, float]]:
    """Centre, upper edge and width of each box: under the middle of what it takes, as far as
    its neighbours leave room."""
    middle = max((sum(_width(n) + _GAP for n in row) for row in rows), default=0) / 2
    places: dict[str, tuple[float, float, float]] = {}

    def wanted(node: Node) -> float:
        above = [places[name][0] for name in node.inputs if name in places]
        return sum(above) / len(above) if above else middle

    for number, row in enumerate(rows):
        row.sort(key=wanted)
        total = sum(_width(n) + _GAP for n in row)
        centre = sum(map(wanted, row)) / len(row)
        left = min(max(centre - (total - _GAP) / 2, _GAP), max(2 * middle - total, 0) + _GAP)
        for node in row:
            width = _width(node)
            places[node.name] = (left + width / 2, _GAP + number * _ROW, width)
            left += width + _GAP
    return places


def _edge(above: tuple[float, float, float], below: tuple[float, float, float]) -> str:
    x, y, to_x, to_y = above[0], above[1] + _BOX, below[0], below[1]
    bend = (to_y - y) / 2
    return (f'<path d="M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} '
            f'{to_x:.0f} {to_y:.0f}" fill="none" stroke="#9aa5b1"/>')


def _box(node: Node, place: tuple[float, float, float]) -> str:
    x, y, width = place
    words = (f'<text x="{x:.0f}" y="{y + _LINE:.0f}" text-anchor="middle" font-weight="bold">'
             f'{html.escape(node.name)}</text>'
             f'<text x="{x:.0f}" y="{y + 2 * _LINE:.0f}" text-anchor="middle" fill="#444">'
             f'{html.escape(_short(node.target))}</text>')
    return (f'<rect x="{x - width / 2:.0f}" y="{y:.0f}" width="{width:.0f}" height="{_BOX}" '
            f'rx="5" fill="{_COLOURS.get(node.op, "#ffffff")}" stroke="#70808f"/>{words}')
