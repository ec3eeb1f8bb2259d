// Choosing, searching, and the start of the page.
function selectStep(index, go) {
  state.step = index;
  state.node = -1;
  if (state.view === 'captured' && go) showView('compiled');
  afterChoice();
  if (go) bringToSight(run().graph.first_step + index);
}

function selectNode(index, go) {
  state.node = index;
  const steps = stepsOfNodes(run()).get(data.captured.nodes[index].name);
  state.step = steps ? steps[0] : -1;
  if (state.view !== 'captured') showView('captured');
  afterChoice();
  if (go) bringToSight(index);
}

function afterChoice() {
  for (const row of document.querySelectorAll('#steps tbody tr'))
    row.classList.toggle('selected', Number(row.dataset.step) === state.step);
  showDetails();
  drawSoon();
  if (arena.boxes.length) drawMemory();
}

function showView(view) {
  state.view = view;
  byId('show-compiled').setAttribute('aria-pressed', String(view === 'compiled'));
  byId('show-captured').setAttribute('aria-pressed', String(view === 'captured'));
  fit(false);
  bringChoiceToSight();
  showDetails();
}

// The box of what is chosen, in the graph that is shown.
function bringChoiceToSight() {
  if (state.step < 0) return;
  if (state.view === 'compiled') return bringToSight(run().graph.first_step + state.step);
  const names = new Set(run().steps[state.step].nodes.map((node) => node.name));
  const at = state.node >= 0 ? state.node : data.captured.nodes.findIndex((node) => names.has(node.name));
  if (at >= 0) bringToSight(at);
}

function showRun(index) {
  state.run = index;
  state.step = state.node = -1;
  byId('run').value = String(index);
  search(state.query);
  showTotals();
  showExpensive();
  showKinds();
  showMemory();
  fit(false);
  showDetails();
}

function search(query) {
  state.query = query.trim().toLowerCase();
  state.matches = [];
  state.nodes = new Set();
  if (state.query) {
    run().steps.forEach((step, index) => { if (matches(step, state.query)) state.matches.push(index); });
    data.captured.nodes.forEach((node, index) => { if (nodeMatches(node, state.query)) state.nodes.add(index); });
  }
  byId('matches').textContent = state.query ? String(state.matches.length) : '';
  showSteps();
  drawSoon();
}

// The next match behind what is chosen, from the first again after the last.
function nextMatch() {
  if (state.view === 'captured' && state.nodes.size) {
    const found = [...state.nodes];
    return selectNode(found.find((node) => node > state.node) ?? found[0], true);
  }
  if (!state.matches.length) return;
  selectStep(state.matches.find((step) => step > state.step) ?? state.matches[0], true);
}

function showHead() {
  const model = data.model, name = model.path.split('/').pop();
  byId('name').textContent = name;
  const facts = model.facts.slice(0, 4).map(([name, value]) => name + ' ' + value.slice(0, 60));
  byId('about').textContent = [data.captured.nodes.length + ' nodes captured', run().steps.length + ' steps compiled',
    ...facts].join(' · ');
  const outputs = run().graph.labels.slice(run().graph.first_step);
  byId('signature').replaceChildren(
    ...model.inputs.map((input) => element('span', {}, element('b', {}, 'in'), input.name + ': ' + input.given)),
    ...outputs.map(([label, type]) => element('span', {}, element('b', {}, 'out'), label + ': ' + type)));
  byId('footer').textContent = 'Made by fxjit ' + data.fxjit + '. Times are medians over calls with a clock around each step; ' +
    'the limit is what this machine’s arithmetic and bandwidth, as measured, would allow.';
  const used = new Set(data.runs.flatMap((of) => of.steps.map((step) => step.skeleton)));
  byId('legend').replaceChildren(...Object.keys(kinds).filter((kind) => used.has(kind)).map((kind) =>
    element('span', { title: kinds[kind] }, element('i', { style: 'background: var(--' + kind + ')' }), kind)));
}

function listenToTools() {
  const select = byId('run');
  if (data.runs.length > 1) {
    select.hidden = false;
    select.append(...data.runs.map((of, index) => element('option', { value: String(index) }, of.title)));
    select.addEventListener('change', () => showRun(Number(select.value)));
  }
  byId('show-compiled').addEventListener('click', () => showView('compiled'));
  byId('show-captured').addEventListener('click', () => showView('captured'));
  byId('zoom-in').addEventListener('click', () => zoom(1.3));
  byId('zoom-out').addEventListener('click', () => zoom(1 / 1.3));
  byId('zoom-fit').addEventListener('click', () => fit(true));
  byId('search').addEventListener('input', (event) => search(event.target.value));
  byId('search').addEventListener('keydown', (event) => { if (event.key === 'Enter') nextMatch(); });
  byId('steps-more').addEventListener('click', () => { order.shown = Infinity; showSteps(); });
  byId('comparison-more').addEventListener('click', () => { order.compared = Infinity; showComparison(); });
}

function redraw() {
  colours.clear();
  drawSoon();
  if (arena.boxes.length) drawMemory();
}

function start() {
  listenToTools();
  listenToCanvas();
  listenToMemory();
  showHead();
  showComparison();
  byId('show-compiled').setAttribute('aria-pressed', 'true');
  byId('show-captured').setAttribute('aria-pressed', 'false');
  showRun(0);
  window.addEventListener('resize', redraw);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  // For tests: milliseconds until everything could be used.
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}
