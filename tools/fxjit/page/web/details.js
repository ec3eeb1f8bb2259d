// What is said of one step or one captured node, and its code.
function facts(pairs) {
  return element('dl', { className: 'facts' }, ...pairs.map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

function link(text, action) {
  // Long labels may be broken behind a plus.
  const made = element('button', { type: 'button', className: 'link' }, text.replaceAll('+', '+\u200b'));
  made.addEventListener('click', action);
  return made;
}

function chip(text, kind) {
  return element('span', { className: 'chip', style: 'color: var(--' + kind + ')' }, text);
}

function showDetails() {
  const panel = byId('details');
  panel.replaceChildren();
  if (state.view === 'captured' && state.node >= 0) panel.append(...nodeDetails(state.node));
  else if (state.step >= 0) panel.append(...stepDetails(state.step));
  else panel.append(element('h3', {}, 'Nothing chosen'),
    element('p', { className: 'hint' }, 'Click a box, a row or one of the most expensive steps.'));
  panel.scrollTop = 0;
}

function stepDetails(index) {
  const step = run().steps[index];
  const parts = [
    element('h3', {}, step.label),
    element('p', {}, chip(step.skeleton, step.skeleton), element('span', { className: 'source' },
      'step ' + index + ' · ' + step.kernel)),
    facts([['time', time(step.us)], ['share', percent(step.share)],
      ['GFLOP/s', rate(step.gflops)], ['GB/s', rate(step.gigabytes)],
      ['of the limit', step.of_limit > 0 ? percent(step.of_limit) : '–'],
      ['operations', step.flops > 0 ? prefixed(step.flops, 'FLOP') : '–'],
      ['bytes touched', step.bytes > 0 ? bytes(step.bytes) : '–']]),
  ];
  if (step.way) parts.push(element('p', {}, 'Computed as ' + step.way + '.'));
  if (step.reason) parts.push(element('p', { className: 'why' }, 'Not native: ' + step.reason));
  parts.push(element('h4', {}, step.nodes.length > 1 ? 'Fused into it' : 'Computes'), nodeList(step));
  parts.push(...apartList(step));
  if (step.sizes.length) parts.push(element('h4', {}, 'Loops'), facts(step.sizes));
  parts.push(...bufferList(step), ...codeOf(step));
  return parts;
}

function nodeList(step) {
  if (!step.nodes.length) return element('p', { className: 'hint' }, 'No node of the captured graph: a copy of the compiler’s own.');
  return element('ul', {}, ...step.nodes.map((node) => {
    const at = data.captured.nodes.findIndex((one) => one.name === node.name);
    const name = at >= 0 ? link('%' + node.name, () => selectNode(at, true)) : '%' + node.name;
    const source = node.file ? element('div', { className: 'source', title: node.file }, place(node.file, node.line)) : '';
    return element('li', {}, name, ' ', element('small', {}, node.target), source);
  }));
}

// Steps that this one reads from, with the reason why they are not one.
function apartList(step) {
  const reasons = new Map();
  for (const operand of step.operands)
    for (const number of operand.from || []) reasons.set(number, operand.apart || reasons.get(number) || '');
  const rows = [...reasons].map(([number, why]) => element('li', {},
    link(number + ': ' + run().steps[number].label, () => selectStep(number, true)),
    why ? element('div', { className: 'why' }, why) : ''));
  return rows.length ? [element('h4', {}, 'Not fused with'), element('ul', {}, ...rows)] : [];
}

function bufferText(buffer, number) {
  if (buffer.name) return buffer.name + (buffer.type ? ' ' + buffer.type : '');
  return buffer.home + ' buffer ' + number + (buffer.type ? ' ' + buffer.type : '');
}

function bufferList(step) {
  const buffers = run().programs[step.program].buffers;
  const rows = step.operands.map((operand) => {
    const buffer = buffers[operand.buffer];
    return element('li', {}, (operand.written ? 'writes ' : 'reads ') + bufferText(buffer, operand.buffer) + ' ',
      element('small', {}, buffer.home + ', ' + bytes(buffer.bytes)));
  });
  return rows.length ? [element('h4', {}, 'Operands'), element('ul', {}, ...rows)] : [];
}

async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

// One kernel at a time, as IR or as assembly.
function codeOf(step) {
  if (!step.kernels.length) return [];
  const shown = { kernel: step.kernels[0], kind: 'assembly' };
  const code = element('pre', { id: 'code', tabIndex: 0 });
  const choice = element('div', { className: 'choice', role: 'group', 'aria-label': 'Code' });
  const show = async () => {
    for (const button of choice.children) button.setAttribute('aria-pressed', String(button.value === shown.kind));
    const stored = data.kernels[shown.kernel] || {};
    if (!stored[shown.kind]) {
      code.textContent = 'Left out, since the page would be too large. FXJIT_DUMP=folder writes the code of all kernels.';
      return;
    }
    const asked = { ...shown }, text = await unpacked(stored[shown.kind]);
    if (asked.kernel === shown.kernel && asked.kind === shown.kind) code.textContent = text;
  };
  for (const [kind, label] of [['assembly', 'Assembly'], ['ir', 'LLVM IR']]) {
    const button = element('button', { type: 'button', value: kind }, label);
    button.addEventListener('click', () => { shown.kind = kind; show(); });
    choice.append(button);
  }
  const names = step.kernels.length === 1 ? element('code', {}, shown.kernel)
    : element('select', { 'aria-label': 'Kernel' }, ...step.kernels.map((name) => element('option', {}, name)));
  if (step.kernels.length > 1) names.addEventListener('change', () => { shown.kernel = names.value; show(); });
  const same = run().steps.filter((one) => one.kernels.includes(shown.kernel)).length;
  show();
  return [element('h4', {}, 'Code'), element('div', { className: 'code-tools' }, choice, names),
    element('p', { className: 'hint' }, same > 1 ? same + ' steps share it.' : 'No other step uses it.'), code];
}

// Steps that compute what reads a node, where no step computes the node itself.
function stepsBehind(index) {
  const computed = stepsOfNodes(run()), found = new Set(), seen = new Set([index]), open = [index];
  while (open.length) {
    const at = open.pop();
    for (const [from, to] of data.captured.wires) {
      if (from !== at || seen.has(to)) continue;
      seen.add(to);
      const steps = computed.get(data.captured.nodes[to].name);
      if (steps) found.add(steps[0]);
      else open.push(to);
    }
  }
  return [...found].sort((a, b) => a - b);
}

function stepLinks(steps) {
  return element('ul', {}, ...steps.map((step) => element('li', {},
    link(step + ': ' + run().steps[step].label, () => selectStep(step, true)), ' ',
    element('small', {}, time(run().steps[step].us)))));
}

function nodeDetails(index) {
  const node = data.captured.nodes[index];
  const steps = stepsOfNodes(run()).get(node.name) || [];
  const parts = [
    element('h3', {}, '%' + node.name),
    element('p', {}, chip(node.kind, 'outside'), element('span', { className: 'source' }, node.label)),
    facts([['result', node.type || '–'], ['module', node.module || '–']]),
  ];
  if (node.file !== undefined) parts.push(element('p', { className: 'source' }, data.captured.files[node.file] + ':' + node.line));
  parts.push(element('h4', {}, 'Computed by'));
  if (steps.length) {
    parts.push(stepLinks(steps));
  } else {
    parts.push(element('p', { className: 'hint' }, node.kind === 'placeholder' || node.kind === 'output'
      ? 'It is an ' + (node.kind === 'output' ? 'output' : 'input') + ' of the graph.'
      : 'No step: it is a view, a constant, or merged with an equal call.'));
    const readers = stepsBehind(index);
    if (readers.length) parts.push(element('h4', {}, 'Read by'), stepLinks(readers));
  }
  parts.push(element('h4', {}, 'Call'), element('pre', {}, node.text));
  return parts;
}
