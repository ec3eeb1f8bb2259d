// The data of the page, what is chosen, and how numbers are written.
const data = JSON.parse(document.getElementById('data').textContent);
const state = { run: 0, view: 'compiled', step: -1, node: -1, query: '', matches: [], nodes: new Set() };

const kinds = {
  rows: 'rows: elementwise work and reductions',
  columns: 'columns: reductions over other dims',
  tile: 'tile: matrix products',
  attention: 'attention',
  winograd: 'winograd: 3x3 convolutions',
  routine: 'routine: a library or a loop of C++',
  interpreter: 'interpreter',
};

const run = () => data.runs[state.run];
const byId = (id) => document.getElementById(id);

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'style') made.style.cssText = value;
    else if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function digits(value, count) {
  return value.toLocaleString('en', { maximumFractionDigits: count, minimumFractionDigits: count });
}

function significant(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  return digits(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

function time(us) {
  if (us >= 1e6) return significant(us / 1e6) + ' s';
  if (us >= 1e3) return significant(us / 1e3) + ' ms';
  return significant(us) + ' µs';
}

function prefixed(value, unit) {
  const steps = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  for (const [size, prefix] of steps) if (value >= size) return significant(value / size) + ' ' + prefix + unit;
  return digits(value, 0) + ' ' + unit;
}

const bytes = (value) => prefixed(value, 'B');
const percent = (share) => (share > 0 && share < 0.0005) ? '<0.1%' : digits(share * 100, share < 0.0995 ? 1 : 0) + '%';
const rate = (value) => (value > 0 ? significant(value) : '–');

const colours = new Map();
function colour(name) {
  if (!colours.has(name))
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim());
  return colours.get(name);
}

// "model.py:12" of a path.
function place(file, line) {
  return file ? file.split('/').pop() + ':' + line : '';
}

function lastNode(step) {
  return step.nodes.length ? step.nodes[step.nodes.length - 1].name : '';
}

// Steps of the run that compute a node of the captured graph, by its name.
function stepsOfNodes(of) {
  if (!of.byNode) {
    of.byNode = new Map();
    of.steps.forEach((step, index) => {
      for (const node of step.nodes) {
        if (!of.byNode.has(node.name)) of.byNode.set(node.name, []);
        of.byNode.get(node.name).push(index);
      }
    });
  }
  return of.byNode;
}

function sumOf(steps, field) {
  return steps.reduce((sum, step) => sum + step[field], 0);
}

function nodeMatches(node, query) {
  return [node.name, node.label, node.text, node.module || ''].some((part) => part.toLowerCase().includes(query));
}

function matches(step, query) {
  const text = [step.label, step.kernel, step.skeleton, ...step.kernels];
  for (const node of step.nodes) text.push(node.name, node.target, node.file || '');
  return text.some((part) => part.toLowerCase().includes(query));
}
