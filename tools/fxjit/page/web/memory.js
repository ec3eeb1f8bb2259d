// The arena: each buffer as a rectangle from the first to the last step that uses
// it, at its place in memory.
const arena = { boxes: [], bytes: 1, steps: 1 };

function collectBuffers() {
  const of = run(), first = of.programs.map((program, at) => of.steps.findIndex((step) => step.program === at));
  arena.boxes = [];
  of.programs.forEach((program, at) => program.buffers.forEach((buffer, number) => {
    if (buffer.home !== 'arena' || buffer.first < 0) return;
    arena.boxes.push({ buffer, number, from: first[at] + buffer.first, to: first[at] + buffer.last });
  }));
  arena.bytes = Math.max(1, ...of.programs.map((program) => program.arena_bytes));
  arena.steps = Math.max(1, of.steps.length);
}

function drawMemory() {
  const { context, width, height } = sized(byId('arena'));
  const left = 66, bottom = 24, wide = width - left - 4, high = height - bottom - 6;
  arena.x = (step) => left + step / arena.steps * wide;
  arena.y = (byte) => 6 + high - byte / arena.bytes * high;
  context.font = '11.5px system-ui, "DejaVu Sans", sans-serif';
  context.fillStyle = colour('dim');
  context.strokeStyle = colour('line');
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const y = arena.y(arena.bytes * part);
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(width - 4, y);
    context.stroke();
    context.fillText(bytes(Math.round(arena.bytes * part)), left - 8, y);
  }
  context.textAlign = 'left';
  context.fillText('step 0', left, height - 8);
  context.textAlign = 'right';
  context.fillText('step ' + (arena.steps - 1), width - 4, height - 8);
  for (const box of arena.boxes) drawBuffer(context, box);
}

function drawBuffer(context, box) {
  const x = arena.x(box.from), w = Math.max(1, arena.x(box.to + 1) - x);
  const top = arena.y(box.buffer.offset + box.buffer.bytes), h = Math.max(1, arena.y(box.buffer.offset) - top);
  const used = state.step >= box.from && state.step <= box.to;
  context.fillStyle = colour(run().steps[box.from].skeleton);
  context.globalAlpha = used ? 0.85 : 0.42;
  context.fillRect(x, top, Math.max(1, w - (w > 4 ? 1 : 0)), Math.max(1, h - (h > 4 ? 1 : 0)));
  context.globalAlpha = 1;
}

function showMemory() {
  collectBuffers();
  const all = arena.boxes.reduce((sum, box) => sum + box.buffer.bytes, 0);
  byId('memory-hint').textContent = arena.boxes.length
    ? arena.boxes.length + ' buffers of together ' + bytes(all) + ' lie in ' + bytes(arena.bytes) +
      ', since those that live at different times share memory. Across: steps; up: place in the arena.'
    : 'No step needs working memory beside inputs, weights and outputs.';
  byId('memory').hidden = !arena.boxes.length;
  if (arena.boxes.length) drawMemory();
}

function listenToMemory() {
  const canvas = byId('arena');
  const at = (event) => {
    const bounds = canvas.getBoundingClientRect(), x = event.clientX - bounds.left, y = event.clientY - bounds.top;
    return arena.boxes.find(({ buffer, from, to }) => x >= arena.x(from) && x <= arena.x(to + 1) &&
      y <= arena.y(buffer.offset) && y >= arena.y(buffer.offset + buffer.bytes));
  };
  canvas.addEventListener('pointermove', (event) => {
    const box = at(event);
    byId('memory-buffer').textContent = box
      ? 'buffer ' + box.number + ': ' + bytes(box.buffer.bytes) + ', from step ' + box.from + ' (' + run().steps[box.from].label + ') to step ' + box.to
      : ' ';
  });
  canvas.addEventListener('click', (event) => {
    const box = at(event);
    if (box) selectStep(box.from, true);
  });
}
