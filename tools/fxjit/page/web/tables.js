// Totals, the most expensive steps, all steps, and the comparison.
const columns = [
  ['#', (step, index) => index, (step, index) => index, 'number wide'],
  ['step', (step) => step.label, null, 'label'],
  ['time', (step) => step.us, (step) => time(step.us), 'number'],
  ['share', (step) => step.share, (step) => percent(step.share), 'number wide'],
  ['GFLOP/s', (step) => step.gflops, (step) => rate(step.gflops), 'number wide'],
  ['GB/s', (step) => step.gigabytes, (step) => rate(step.gigabytes), 'number wide'],
  ['of limit', (step) => step.of_limit, (step) => (step.of_limit > 0 ? percent(step.of_limit) : '–'), 'number'],
  ['FLOP', (step) => step.flops, (step) => (step.flops > 0 ? prefixed(step.flops, '') : '–'), 'number wide'],
  ['bytes', (step) => step.bytes, (step) => (step.bytes > 0 ? bytes(step.bytes) : '–'), 'number wide'],
  ['computed by', (step) => step.by, (step) => step.by, 'wide'],
  ['source', (step) => sourceOf(step), (step) => sourceOf(step), 'wide source'],
];
const order = { column: 0, down: false, shown: 100, compared: 10 };

function sourceOf(step) {
  for (let i = step.nodes.length - 1; i >= 0; --i) if (step.nodes[i].file) return place(step.nodes[i].file, step.nodes[i].line);
  return '';
}

function card(name, value, more) {
  return element('dl', { className: 'card', style: 'margin: 0' }, element('dt', {}, name),
    element('dd', {}, value, more ? element('small', {}, more) : ''));
}

function showTotals() {
  const of = run(), sum = sumOf(of.steps, 'us'), flops = sumOf(of.steps, 'flops'), moved = sumOf(of.steps, 'bytes');
  const least = of.steps.reduce((total, step) => total + step.of_limit * step.us, 0);
  const compiling = Object.values(of.compile_ms).reduce((a, b) => a + b, 0);
  const weights = data.model.weights;
  byId('totals').replaceChildren(
    card('a call', time(of.call_us), of.title),
    card('its steps', time(sum), of.steps.length + ' steps'),
    card('GFLOP/s', sum ? significant(flops / sum / 1e3) : '–', prefixed(flops, 'FLOP')),
    card('GB/s', sum ? significant(moved / sum / 1e3) : '–', bytes(moved) + ' touched'),
    card('of the limit', sum ? percent(least / sum) : '–',
      significant(of.limits.gflops) + ' GFLOP/s, ' + significant(of.limits.bandwidths[3][1]) + ' GB/s a core'),
    card('working memory', bytes(of.arena_bytes), bytes(of.packed_bytes) + ' of packed weights'),
    card('weights', bytes(weights.bytes), weights.tensors + ' tensors'),
    card('compilation', time(compiling * 1e3), 'passes ' + time(of.compile_ms.passes * 1e3)));
}

function kindOf(kind) {
  const ranges = kind.sizes.map(([name, least, most]) =>
    element('li', {}, name + ' in ' + least + '..' + (most === null ? '' : most)));
  const guards = kind.guards.map((guard) =>
    element('li', {}, (guard.specialises ? 'only ' : 'assumes ') + guard.text + (guard.where ? ': ' + guard.where : '')));
  const why = kind.why_not ? [element('li', {}, 'each tuple has a graph of its own: ' + kind.why_not)] : [];
  return element('div', {}, element('p', {}, kind.inputs), element('ul', {}, ...why, ...ranges, ...guards));
}

function showKinds() {
  const kinds = run().kinds || [];
  byId('sizes').hidden = !kinds.length;
  byId('kinds').replaceChildren(...kinds.map(kindOf));
}

function showExpensive() {
  const steps = run().steps.map((step, index) => [step, index]).sort((a, b) => b[0].us - a[0].us).slice(0, 10);
  const most = steps.length ? steps[0][0].us || 1 : 1;
  byId('expensive').replaceChildren(...steps.map(([step, index], at) => {
    const button = element('button', { type: 'button' },
      element('span', { className: 'rank' }, String(at + 1)),
      element('span', { className: 'name' }, step.label,
        lastNode(step) ? element('small', {}, '%' + lastNode(step)) : ''),
      element('span', { className: 'bar' },
        element('i', { style: 'width: ' + (100 * step.us / most).toFixed(1) + '%; background: var(--' + step.skeleton + ')' })),
      element('span', { className: 'number' }, time(step.us)),
      element('span', { className: 'number' }, percent(step.share)));
    button.addEventListener('click', () => selectStep(index, true));
    return element('li', {}, button);
  }));
}

function listed() {
  const [, key] = columns[order.column];
  const rows = run().steps.map((step, index) => ({ step, index, key: key(step, index) }));
  const kept = state.query ? rows.filter(({ index }) => state.matches.includes(index)) : rows;
  const sign = order.down ? -1 : 1;
  return kept.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.index - b.index));
}

function showSteps() {
  const rows = listed(), shown = rows.slice(0, order.shown);
  const head = columns.map(([name, , , kind], at) => {
    const button = element('button', { type: 'button' }, name + (at === order.column ? (order.down ? ' ↓' : ' ↑') : ''));
    button.addEventListener('click', () => {
      order.down = at === order.column ? !order.down : kind.startsWith('number') && at > 0;
      order.column = at;
      showSteps();
    });
    const cell = element('th', { className: kind.replace('label', ''), scope: 'col' }, button);
    if (at === order.column) cell.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
    return cell;
  });
  byId('steps').replaceChildren(element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...shown.map(({ step, index }) => stepRow(step, index))));
  const more = byId('steps-more');
  more.hidden = rows.length <= order.shown;
  more.textContent = 'Show all ' + rows.length + ' steps';
}

function stepRow(step, index) {
  const cells = columns.map(([, , text, kind]) => {
    if (text) return element('td', { className: kind }, String(text(step, index)));
    const name = element('button', { type: 'button' }, step.label);
    return element('td', { className: kind, title: step.label + (lastNode(step) ? '  %' + lastNode(step) : '') },
      element('div', {}, element('i', { style: 'background: var(--' + step.skeleton + ')' }), name));
  });
  const row = element('tr', {}, ...cells);
  row.dataset.step = index;
  row.classList.toggle('selected', index === state.step);
  row.addEventListener('click', () => selectStep(index, true));
  return row;
}

function partsOf(which, indices) {
  const labels = indices.map((index) => data.runs[which].steps[index].label);
  const count = labels.length > 1 ? labels.length + ': ' : '';
  return element('td', { className: 'parts wide', title: labels.join(', ') }, count + labels.join(', '));
}

function showComparison() {
  if (!data.comparison) return;
  const [a, b] = data.runs, groups = data.comparison;
  byId('comparison').hidden = false;
  const ratio = b.call_us / a.call_us;
  byId('comparison-hint').textContent = a.title + ': ' + time(a.call_us) + ' a call; ' + b.title + ': ' + time(b.call_us) +
    ' (' + significant(ratio) + ' times as long). Rows hold the steps of both that compute the same nodes, the greatest difference first.';
  const head = ['nodes', 'steps of ' + a.title, 'steps of ' + b.title, a.title, b.title, 'difference'].map((name, at) =>
    element('th', { className: at > 2 ? 'number' : at ? 'wide' : '', scope: 'col' }, name));
  const rows = groups.slice(0, order.compared).map((group) => {
    const change = group.b_us - group.a_us, names = group.nodes;
    const row = element('tr', {},
      element('td', { className: 'parts', title: names.join(' ') }, names.map((name) => '%' + name).join(' ')),
      partsOf(0, group.a), partsOf(1, group.b),
      element('td', { className: 'number' }, time(group.a_us)), element('td', { className: 'number' }, time(group.b_us)),
      element('td', { className: 'number ' + (change > 0 ? 'greater' : 'less') }, (change > 0 ? '+' : '−') + time(Math.abs(change))));
    row.addEventListener('click', () => {
      const which = group[state.run ? 'b' : 'a'].length ? state.run : 1 - state.run;
      if (which !== state.run) showRun(which);
      selectStep(group[which ? 'b' : 'a'][0], true);
    });
    return row;
  });
  byId('comparison-table').replaceChildren(element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows));
  const more = byId('comparison-more');
  more.hidden = groups.length <= order.compared;
  more.textContent = 'Show all ' + groups.length + ' rows';
}
