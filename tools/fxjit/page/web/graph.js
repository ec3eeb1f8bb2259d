// The drawing: boxes and wires on a canvas, only those in sight. Places come with
// the data.
const graph = { scale: 1, x: 0, y: 0, scene: null, held: null, pointers: new Map() };
const scenes = new Map();

function compiledScene(index) {
  const of = data.runs[index], drawing = of.graph;
  const most = Math.max(1e-9, ...of.steps.map((step) => step.us));
  const items = drawing.boxes.map((box, at) => {
    const step = at - drawing.first_step;
    if (step >= 0 && step < of.steps.length) {
      const one = of.steps[step];
      return { box, step, title: one.label, kind: one.skeleton, heat: one.us / most,
        sub: time(one.us) + ' · ' + percent(one.share) };
    }
    const label = drawing.labels[step < 0 ? at : at - of.steps.length];
    return { box, step: -1, title: label[0], sub: label[1], kind: 'outside', heat: 0 };
  });
  return { drawing, items };
}

function capturedScene(index) {
  const steps = stepsOfNodes(data.runs[index]), of = data.runs[index].steps;
  const items = data.captured.boxes.map((box, at) => {
    const node = data.captured.nodes[at];
    const by = steps.get(node.name) || [];
    return { box, node: at, title: node.label, sub: node.type, heat: 0,
      kind: by.length ? of[by[by.length - 1]].skeleton : 'outside' };
  });
  return { drawing: data.captured, items };
}

function sceneOf() {
  const key = state.view + state.run;
  if (!scenes.has(key)) scenes.set(key, state.view === 'compiled' ? compiledScene(state.run) : capturedScene(state.run));
  return scenes.get(key);
}

function sized(canvas) {
  const scale = window.devicePixelRatio || 1, box = canvas.getBoundingClientRect();
  const width = Math.round(box.width * scale), height = Math.round(box.height * scale);
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  return { context, width: box.width, height: box.height };
}

let waiting = false;
function drawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function draw() {
  const { context, width, height } = sized(byId('canvas'));
  const scene = graph.scene = sceneOf();
  const seen = { left: graph.x, top: graph.y, right: graph.x + width / graph.scale, bottom: graph.y + height / graph.scale };
  context.scale(graph.scale, graph.scale);
  context.translate(-graph.x, -graph.y);
  const marked = markedBoxes(scene);
  drawWires(context, scene, seen, marked);
  for (let at = 0; at < scene.items.length; ++at) {
    const [x, y, w, h] = scene.items[at].box;
    if (x < seen.right && x + w > seen.left && y < seen.bottom && y + h > seen.top)
      drawBox(context, scene.items[at], marked.get(at));
  }
  drawStrip(scene, seen);
}

// What is chosen, what belongs to it, and what the search found.
function markedBoxes(scene) {
  const marked = new Map();
  const found = new Set(state.matches);
  const chosen = new Set(state.step >= 0 ? run().steps[state.step].nodes.map((node) => node.name) : []);
  scene.items.forEach((item, at) => {
    if (state.view === 'compiled') {
      if (item.step >= 0 && item.step === state.step) marked.set(at, 'chosen');
      else if (item.step >= 0 && found.has(item.step)) marked.set(at, 'found');
    } else {
      const name = data.captured.nodes[at].name;
      if (at === state.node) marked.set(at, 'chosen');
      else if (chosen.has(name)) marked.set(at, 'together');
      else if (state.nodes.has(at)) marked.set(at, 'found');
    }
  });
  return marked;
}

function drawWires(context, scene, seen, marked) {
  const plain = colour('wire'), accent = colour('accent');
  context.lineWidth = Math.max(1, 0.8 / graph.scale);
  for (const [from, to, points] of scene.drawing.wires) {
    if (points[1] > seen.bottom || points[points.length - 1] < seen.top) continue;
    const near = marked.get(from) === 'chosen' || marked.get(to) === 'chosen';
    context.strokeStyle = near ? accent : plain;
    drawWire(context, points);
  }
}

function drawWire(context, points) {
  context.beginPath();
  context.moveTo(points[0], points[1]);
  for (let i = 2; i < points.length; i += 2) {
    const [x0, y0, x1, y1] = [points[i - 2], points[i - 1], points[i], points[i + 1]];
    const middle = (y0 + y1) / 2;
    if (x0 === x1) context.lineTo(x1, y1);
    else context.bezierCurveTo(x0, middle, x1, middle, x1, y1);
  }
  context.stroke();
}

function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let keep = text.length;
  while (keep > 1 && context.measureText(text.slice(0, keep) + '…').width > width) --keep;
  return text.slice(0, keep) + '…';
}

function drawBox(context, item, mark) {
  const [x, y, w, h] = item.box, own = colour(item.kind);
  context.beginPath();
  context.roundRect(x, y, w, h, 7);
  context.fillStyle = colour('panel');
  context.fill();
  context.globalAlpha = item.kind === 'outside' ? 0.08 : 0.13 + 0.4 * item.heat;
  context.fillStyle = own;
  context.fill();
  context.globalAlpha = 1;
  context.lineWidth = mark === 'chosen' ? 3 : mark ? 2.5 : 1;
  context.strokeStyle = mark === 'chosen' ? colour('accent') : mark ? colour('mark') : own;
  context.stroke();
  if (graph.scale < 0.32) return;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = colour('text');
  context.font = '600 12.5px system-ui, "DejaVu Sans", sans-serif';
  context.fillText(fitted(context, item.title, w - 16), x + w / 2, y + (item.sub ? 14 : h / 2));
  if (!item.sub) return;
  context.fillStyle = colour(item.heat > 0.3 ? 'text' : 'dim');  // Dim cannot be read on strong colours.
  context.font = '11.5px system-ui, "DejaVu Sans", sans-serif';
  context.fillText(fitted(context, item.sub, w - 12), x + w / 2, y + 29);
}

// Time by layer, and the part of the graph in sight.
function drawStrip(scene, seen) {
  const { context, width, height } = sized(byId('strip'));
  const scale = height / scene.drawing.height;
  for (const item of scene.items) {
    const [, y, , h] = item.box;
    if (!item.heat && state.view === 'compiled') continue;
    context.fillStyle = colour(item.kind);
    context.globalAlpha = state.view === 'compiled' ? 0.9 : 0.35;
    const long = state.view === 'compiled' ? Math.max(2, item.heat * (width - 4)) : 5;
    context.fillRect(width - 2 - long, y * scale, long, Math.max(1, h * scale));
  }
  context.globalAlpha = 0.14;
  context.fillStyle = colour('accent');
  const top = Math.max(0, seen.top * scale), bottom = Math.min(height, seen.bottom * scale);
  context.fillRect(0, top, width, Math.max(3, bottom - top));
  context.globalAlpha = 1;
}

function canvasSize() {
  const box = byId('canvas').getBoundingClientRect();
  return { width: box.width, height: box.height };
}

function zoom(factor, x, y) {
  const { width, height } = canvasSize();
  if (x === undefined) { x = width / 2; y = height / 2; }
  const scale = Math.min(2.5, Math.max(0.02, graph.scale * factor));
  graph.x += x / graph.scale - x / scale;
  graph.y += y / graph.scale - y / scale;
  graph.scale = scale;
  drawSoon();
}

// The whole graph, or its beginning where the whole could not be read.
function fit(whole) {
  const { width, height } = canvasSize(), drawing = sceneOf().drawing;
  const across = width / drawing.width, down = height / drawing.height;
  graph.scale = Math.min(1, whole ? Math.min(across, down) : Math.max(Math.min(across, 1), Math.min(down, across), 0.45));
  graph.x = (drawing.width - width / graph.scale) / 2;
  const high = height / graph.scale;
  graph.y = high > drawing.height ? (drawing.height - high) / 2 : 0;
  if (!whole && drawing.width > width / graph.scale) graph.x = firstMiddle(sceneOf()) - width / graph.scale / 2;
  drawSoon();
}

function firstMiddle(scene) {
  const first = scene.items.reduce((a, b) => (b.box[1] < a.box[1] ? b : a));
  return first.box[0] + first.box[2] / 2;
}

function bringToSight(at) {
  const { width, height } = canvasSize(), [x, y, w, h] = sceneOf().items[at].box;
  if (graph.scale < 0.5) graph.scale = 0.9;
  graph.x = x + w / 2 - width / graph.scale / 2;
  graph.y = y + h / 2 - height / graph.scale / 2;
  drawSoon();
}

function boxAt(clientX, clientY) {
  const bounds = byId('canvas').getBoundingClientRect();
  const px = graph.x + (clientX - bounds.left) / graph.scale, py = graph.y + (clientY - bounds.top) / graph.scale;
  return sceneOf().items.findIndex(({ box: [x, y, w, h] }) => px >= x && px <= x + w && py >= y && py <= y + h);
}

function listenToCanvas() {
  const canvas = byId('canvas'), pointers = graph.pointers;
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const bounds = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), event.clientX - bounds.left, event.clientY - bounds.top);
  }, { passive: false });
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    graph.moved = pointers.size > 1;
    graph.start = [event.clientX, event.clientY];
    canvas.classList.add('held');
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const others = [...pointers].filter(([id]) => id !== event.pointerId);
    if (others.length) pinch(before, now, others[0][1]);
    else drag(before, now);
    pointers.set(event.pointerId, now);
  });
  const release = (event) => {
    if (pointers.delete(event.pointerId) && event.type === 'pointerup' && !graph.moved) {
      const at = boxAt(event.clientX, event.clientY);
      if (at >= 0) choose(sceneOf().items[at]);
    }
    if (!pointers.size) canvas.classList.remove('held');
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('keydown', (event) => {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const step = Math.min(run().steps.length - 1, Math.max(0, state.step + by));
    selectStep(step, true);
  });
  byId('strip').addEventListener('pointerdown', (event) => {
    const bounds = byId('strip').getBoundingClientRect();
    const y = (event.clientY - bounds.top) / bounds.height * sceneOf().drawing.height;
    if (graph.scale < 0.3) graph.scale = 0.7;
    graph.y = y - canvasSize().height / graph.scale / 2;
    drawSoon();
  });
}

function drag(before, now) {
  if (Math.hypot(now[0] - graph.start[0], now[1] - graph.start[1]) > 4) graph.moved = true;
  graph.x -= (now[0] - before[0]) / graph.scale;
  graph.y -= (now[1] - before[1]) / graph.scale;
  drawSoon();
}

function pinch(before, now, other) {
  graph.moved = true;
  const span = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
  const bounds = byId('canvas').getBoundingClientRect();
  zoom(span(now) / span(before), (now[0] + other[0]) / 2 - bounds.left, (now[1] + other[1]) / 2 - bounds.top);
}

function choose(item) {
  if (state.view === 'captured') selectNode(item.node, false);
  else if (item.step >= 0) selectStep(item.step, false);
}
