// The viewer's script. The server renders everything; here are scrolling, soft navigation, the filter box and keys.
// Text from the data is only ever inserted as text, or as HTML that the server has escaped.

const $ = (selector, within = document) => within.querySelector(selector);
const base = () => document.body.dataset.base || "";
const query = () => location.search;

// --- light and dark ---

const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const remembered = () => { try { return localStorage.getItem("recordsmith-theme"); } catch { return null; } };
const isDark = () => (root.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => { const button = $("#theme"); if (button) button.textContent = isDark() ? "Light" : "Dark"; };
if (remembered()) root.dataset.theme = remembered();
prefersDark.addEventListener("change", nameTheme);
nameTheme();

function changeTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem("recordsmith-theme", root.dataset.theme); } catch { /* private windows refuse */ }
  nameTheme();
}

// --- the grid: only what is near the visible part is in the page ---

const CHUNK = 40;
const TALLEST = 6_000_000;  // pixels that browsers can scroll; taller grids move faster than their scroll bar

class Grid {
  constructor() {
    this.scroller = $("#scroller");
    this.grid = $("#grid");
    this.cells = $("#cells");
    this.height = Number(this.grid.dataset.height);
    this.least = Number(this.grid.dataset.width);
    this.gap = this.least ? 12 : 0;
    this.count = 0;
    this.chunks = new Map();  // number -> {nodes} or a promise
    this.top = 0;             // of the visible part, in pixels of the whole grid
    this.before = 0;
    this.version = 0;
    this.adopt();
    this.onScroll = () => { this.move(); this.draw(); };
    this.scroller.addEventListener("scroll", this.onScroll, { passive: true });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.scroller);
  }

  close() {
    this.scroller.removeEventListener("scroll", this.onScroll);
    this.observer.disconnect();
    clearTimeout(this.settling);
  }

  adopt() {  // what the server has rendered already
    const nodes = [...this.cells.children];
    for (let start = 0; start < nodes.length; start += CHUNK) {
      this.chunks.set(start / CHUNK, nodes.slice(start, start + CHUNK));
    }
    this.count = nodes.length;
  }

  get columns() {
    if (!this.least) return 1;
    return Math.max(1, Math.floor((this.innerWidth + this.gap) / (this.least + this.gap)));
  }
  get innerWidth() {
    const style = getComputedStyle(this.scroller);
    return this.scroller.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  }
  get rowHeight() { return this.height + this.gap; }
  get whole() { return Math.ceil(this.count / this.columns) * this.rowHeight; }
  get shown() { return Math.min(this.whole, TALLEST); }
  get ratio() {
    const room = Math.max(1, this.shown - this.scroller.clientHeight);
    return this.whole > TALLEST ? (this.whole - this.scroller.clientHeight) / room : 1;
  }

  setCount(count) {
    if (count === this.count && this.grid.style.height) return;
    const fewer = count < this.count;
    const last = Math.floor(this.count / CHUNK);
    if (this.count % CHUNK && count > this.count) this.forget(last);  // it was not full
    this.count = count;
    if (fewer) this.reset(); else this.resize();
  }

  forget(number) {
    const nodes = this.chunks.get(number);
    if (Array.isArray(nodes)) nodes.forEach((node) => node.remove());
    this.chunks.delete(number);
  }

  reset() {
    this.version += 1;
    for (const number of [...this.chunks.keys()]) this.forget(number);
    this.cells.replaceChildren();
    this.resize();
  }

  get tableWidth() { return Math.max(this.innerWidth, 100 + 116 * Number(this.grid.dataset.columns)); }

  resize() {
    this.grid.style.height = `${this.shown + 20}px`;
    if (!this.least) for (const part of [this.grid, $(".table-head")]) part.style.width = `${this.tableWidth}px`;
    for (const nodes of this.chunks.values()) if (Array.isArray(nodes)) nodes.forEach((node) => { node.style.width = ""; });
    this.move(true);
    this.draw();
  }

  move(exact = false) {
    const now = this.scroller.scrollTop;
    const ratio = this.ratio;
    const step = now - this.before;
    if (ratio === 1) this.top = now;
    else if (exact || Math.abs(step) > 1.5 * this.scroller.clientHeight || now <= 0 || now >= this.shown - this.scroller.clientHeight) this.top = now * ratio;
    else {  // a small step is a small step, however many records there are
      this.top = Math.max(0, Math.min(this.whole - this.scroller.clientHeight, this.top + step));
      clearTimeout(this.settling);
      this.settling = setTimeout(() => { this.before = this.top / ratio; this.scroller.scrollTop = this.before; this.draw(); }, 200);
    }
    this.before = now;
  }

  draw() {
    const columns = this.columns;
    const width = this.least ? (this.innerWidth - this.gap * (columns - 1)) / columns : this.tableWidth;
    const shift = this.scroller.scrollTop - this.top;
    const first = Math.max(0, Math.floor(this.top / this.rowHeight - 2)) * columns;
    const last = Math.min(this.count, Math.ceil((this.top + this.scroller.clientHeight) / this.rowHeight + 3) * columns);
    const wanted = new Set();
    for (let number = Math.floor(first / CHUNK); number * CHUNK < last; number += 1) wanted.add(number);
    for (const number of [...this.chunks.keys()]) {
      const far = Math.abs(number * CHUNK - first) > 6 * CHUNK + 2 * (last - first);
      if (far && Array.isArray(this.chunks.get(number))) this.forget(number);
    }
    for (const number of wanted) if (!this.chunks.has(number)) this.load(number);
    for (const nodes of this.chunks.values()) {
      if (!Array.isArray(nodes)) continue;
      for (const node of nodes) {
        const at = Number(node.dataset.at);
        const row = Math.floor(at / columns);
        const style = node.style;
        style.width = `${width}px`;
        style.height = `${this.height}px`;
        style.left = `${(at % columns) * (width + this.gap)}px`;
        style.top = `${row * this.rowHeight + shift}px`;
      }
    }
    $("#nothing").hidden = this.count > 0 || state.busy || !state.known;
  }

  async load(number) {
    const version = this.version;
    this.chunks.set(number, "loading");
    clearTimeout(this.waiting);
    await new Promise((done) => setTimeout(done, 30));  // the reader may be on the way elsewhere
    const first = Math.floor(this.top / this.rowHeight) * this.columns;
    if (version !== this.version || Math.abs(number * CHUNK - first) > 12 * CHUNK) { if (this.chunks.get(number) === "loading") this.chunks.delete(number); return; }
    try {
      const text = await fetchText(`${base()}/cells${joinQuery(query(), `start=${number * CHUNK}&count=${CHUNK}`)}`);
      if (version !== this.version) return;
      const nodes = [...new DOMParser().parseFromString(text, "text/html").body.children];
      this.chunks.set(number, nodes);
      this.cells.append(...nodes);
      this.draw();
    } catch {
      if (this.chunks.get(number) === "loading") this.chunks.delete(number);
    }
  }

  go(position, focus = false) {
    const row = Math.floor(position / this.columns);
    const goal = Math.max(0, Math.min(this.whole - this.scroller.clientHeight, row * this.rowHeight - this.rowHeight / 2));
    if (this.ratio === 1) this.scroller.scrollTop = goal;
    else { this.before = goal / this.ratio; this.scroller.scrollTop = this.before; this.top = goal; this.draw(); }
    if (focus) this.focusSoon(position, 20);
  }

  focusSoon(position, tries) {
    const node = $(`.cell[data-at="${position}"]`, this.cells);
    if (node) { node.focus({ preventScroll: true }); this.reveal(node); } else if (tries) setTimeout(() => this.focusSoon(position, tries - 1), 60);
  }

  reveal(node) {
    const box = node.getBoundingClientRect();
    const frame = this.scroller.getBoundingClientRect();
    if (box.top < frame.top) this.scroller.scrollTop -= frame.top - box.top + 12;
    else if (box.bottom > frame.bottom) this.scroller.scrollTop += box.bottom - frame.bottom + 12;
  }

  step(key) {
    const focused = document.activeElement?.closest?.(".cell");
    if (!focused || !this.cells.contains(focused)) {
      const first = Math.floor((this.top + this.rowHeight / 2) / this.rowHeight) * this.columns;
      this.focusSoon(first, 5);
      return;
    }
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns }[key];
    const next = Number(focused.dataset.at) + by;
    if (next < 0 || next >= this.count) return;
    const node = $(`.cell[data-at="${next}"]`, this.cells);
    if (node) { node.focus({ preventScroll: true }); this.reveal(node); } else this.go(next, true);
  }
}

const joinQuery = (search, more) => (search.length > 1 ? `${search}&${more}` : `?${more}`);

async function fetchText(url) {
  const answer = await fetch(url, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.text();
}

// --- what the server is doing: counts, facts, findings ---

const state = { grid: null, busy: true, known: false, facts: null, timer: 0 };
const number = new Intl.NumberFormat("en-US");

async function poll() {
  clearTimeout(state.timer);
  if (!base()) return;
  const asked = query();
  let status;
  try { status = JSON.parse(await fetchText(`${base()}/status${asked}`)); } catch { state.timer = setTimeout(poll, 3000); return; }
  if (asked !== query()) { poll(); return; }
  state.busy = !status.done;
  state.known = true;
  showFindings(status);
  if (state.grid) {
    state.grid.setCount(status.count);
    state.grid.draw();
    showCount(status);
    showError(status.error);
    if (state.facts !== null && status.facts !== state.facts) refreshSide();
  } else if (state.facts !== null && status.facts !== state.facts && ["findings", "facts", "program"].includes(document.body.dataset.page)) {
    location.reload();
    return;
  }
  state.facts = status.facts;
  if (status.busy) state.timer = setTimeout(poll, status.done ? 900 : 250);
}

function showCount(status) {
  const box = $("#count");
  const words = status.filtered ? `${number.format(status.found)} of ${number.format(status.total)}` : number.format(status.found);
  const notes = [];
  if (!status.indexed) notes.push("indexing …");
  if (!status.done && status.filtered) notes.push(`searched ${Math.floor((100 * status.searched) / Math.max(1, status.total))} %`);
  else if (!status.done && status.indexed) notes.push("sorting …");
  if (status.damaged) notes.push(status.damaged === 1 ? "1 damaged file" : `${number.format(status.damaged)} damaged files`);
  if (status.phase) notes.push(`${status.phase}${status.share ? ` ${Math.floor(100 * status.share)} %` : " …"}`);
  box.replaceChildren(`${words} ${(status.filtered ? status.total : status.found) === 1 ? "record" : "records"}`);
  if (notes.length) { const small = document.createElement("small"); small.className = "busy"; small.textContent = notes.join(", "); box.append(small); }
}

function showFindings(status) {
  const count = $("#findings-count");
  if (count && status.findings !== null) count.textContent = ` ${number.format(status.findings)}`;
  const program = $("#program-count");
  if (program && status.program !== null) program.textContent = ` ${number.format(status.program)}`;
  const phase = $("#phase");
  if (phase) { phase.textContent = status.phase || "starting"; $("#progress").value = status.share; }
}

function showError(error) {
  const box = $("#where-error");
  const input = $("#where");
  if (!box) return;
  box.hidden = !error;
  input.classList.toggle("wrong", Boolean(error));
  input.setAttribute("aria-invalid", String(Boolean(error)));
  if (!error) return;
  box.replaceChildren(error.text);
  if (error.advice) box.append(` ${error.advice}`);
  if (error.column && input.value) {
    const mark = document.createElement("b");
    mark.textContent = `${input.value.slice(0, error.column - 1)}▸${input.value.slice(error.column - 1)}`;
    box.append(document.createElement("br"), mark);
  }
}

// The feature that the address names. A class, since :target is lost when the side is replaced.
function markNamed() {
  if (location.hash) document.getElementById(location.hash.slice(1))?.classList.add("named");
}

async function refreshSide() {
  const side = $("#side");
  const asked = query();
  try {
    const text = await fetchText(`${base()}/side${asked}`);
    if (asked !== query()) return;
    const typed = $("#find-feature")?.value || "";
    if (document.activeElement?.classList.contains("find-class") && document.activeElement.value) return;  // somebody types
    const focus = side.contains(document.activeElement) ? document.activeElement.title : null;
    const top = side.scrollTop;
    side.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
    side.scrollTop = top;
    markNamed();
    if (typed) { $("#find-feature").value = typed; findFeature(typed); }
    if (focus) [...side.querySelectorAll(".choice")].find((one) => one.title === focus)?.focus();
  } catch { /* the next poll tries again */ }
}

// --- going to another view of the same dataset without loading the page anew ---

async function go(url, { push = true } = {}) {
  if (push) history.pushState(null, "", url);
  let text;
  try { text = await fetchText(location.href); } catch { location.reload(); return; }
  const page = new DOMParser().parseFromString(text, "text/html");
  if (!$("#grid", page) || !$("#grid")) { location.reload(); return; }
  const typing = document.activeElement?.id;
  const pressed = document.activeElement?.title;
  const top = $("#side").scrollTop;
  state.grid?.close();
  for (const id of ["tools", "scroller", "side", "export"]) $(`#${id}`).replaceWith(document.adoptNode($(`#${id}`, page)));
  $("#side").scrollTop = top;
  startGrid();
  if (typing && $(`#${typing}`)) $(`#${typing}`).focus();
  else if (pressed) [...document.querySelectorAll("#side .choice")].find((one) => one.title === pressed)?.focus();
}

function changed(changes) {
  const parameters = new URLSearchParams(query());
  for (const [key, value] of Object.entries(changes)) {
    parameters.delete(key);
    if (value) parameters.append(key, value);
  }
  return `?${parameters}`;
}

addEventListener("popstate", () => { if (document.body.dataset.page === "grid") go(location.href, { push: false }); });

function startGrid() {
  markNamed();
  state.known = false;
  state.busy = true;
  state.facts = Number($("#side").dataset.facts);
  if (innerWidth <= 760) document.body.classList.add("side-closed");
  $("#side-button").setAttribute("aria-expanded", String(!document.body.classList.contains("side-closed")));
  state.grid = new Grid();
  state.grid.resize();
  poll();
}

// --- the filter box ---

const box = { items: [], chosen: -1, start: 0, timer: 0, answered: 0 };

async function suggest() {
  const input = $("#where");
  const text = input.value.slice(0, input.selectionStart ?? input.value.length);
  const answered = box.answered;
  let found;
  try { found = JSON.parse(await fetchText(`${base()}/complete?text=${encodeURIComponent(text)}`)); } catch { return; }
  // A suggestion that comes after the list was closed would hide what is wrong with the condition.
  if (document.activeElement !== input || !input.value.startsWith(text) || answered !== box.answered) return;
  box.items = found.items;
  box.start = found.start;
  box.chosen = -1;
  const list = $("#completions");
  list.replaceChildren(...found.items.map((item, place) => {
    const line = document.createElement("li");
    const kind = document.createElement("small");
    line.setAttribute("role", "option");
    line.id = `completion-${place}`;
    kind.textContent = item.kind;
    line.append(item.shown, kind);
    return line;
  }));
  openList(found.items.length > 0);
}

function openList(open) {
  $("#completions").hidden = !open;
  $("#where").setAttribute("aria-expanded", String(open));
  if (!open) { box.chosen = -1; box.answered += 1; clearTimeout(box.timer); $("#where").removeAttribute("aria-activedescendant"); }
  else $("#where-error").hidden = true;
}

function choose(place) {
  const lines = [...$("#completions").children];
  box.chosen = (place + lines.length) % lines.length;
  lines.forEach((line, n) => line.setAttribute("aria-selected", String(n === box.chosen)));
  lines[box.chosen].scrollIntoView({ block: "nearest" });
  $("#where").setAttribute("aria-activedescendant", lines[box.chosen].id);
}

function complete(place) {
  const input = $("#where");
  const end = input.selectionStart ?? input.value.length;
  const text = box.items[place].text;
  input.value = input.value.slice(0, box.start) + text + input.value.slice(end);
  const at = box.start + text.length;
  input.setSelectionRange(at, at);
  openList(false);
  input.focus();
}

function typedKey(event) {
  const open = !$("#completions").hidden;
  if (event.key === "Enter") {
    event.preventDefault();
    if (open && box.chosen >= 0) complete(box.chosen);
    else { openList(false); go(changed({ where: $("#where").value.trim() })); }
  } else if (open && event.key === "ArrowDown") { event.preventDefault(); choose(box.chosen + 1); }
  else if (open && event.key === "ArrowUp") { event.preventDefault(); choose(box.chosen - 1); }
  else if (open && event.key === "Tab" && box.items.length) { event.preventDefault(); complete(Math.max(0, box.chosen)); }
  else if (event.key === "Escape") { if (open) openList(false); else { event.target.blur(); $("#scroller").focus(); } }
}

// --- dragging over a histogram ---

const brush = { part: null, from: 0, to: 0 };
const shareAt = (event, drawing) => {
  const frame = drawing.getBoundingClientRect();
  return Math.max(0, Math.min(1, (event.clientX - frame.left) / frame.width));
};

function drawBrush() {
  const [low, high] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)];
  const mark = $(".selection", brush.part);
  mark.setAttribute("x", String(200 * low));
  mark.setAttribute("width", String(200 * (high - low)));
}

function endBrush() {
  const { low, high, whole, feature } = brush.part.dataset;
  const span = Number(high) - Number(low);
  let [first, last] = [Math.min(brush.from, brush.to), Math.max(brush.from, brush.to)];
  if (last - first < 0.012) {  // a click: the bar under it
    const bars = [...brush.part.querySelectorAll("rect:not(.selection):not(.part)")];
    const hit = bars.find((one) => Number(one.getAttribute("x")) + Number(one.getAttribute("width")) >= 200 * first);
    if (hit) { first = Number(hit.getAttribute("x")) / 200; last = first + Number(hit.getAttribute("width")) / 200; }
  }
  let [from, to] = [Number(low) + first * span, Number(low) + last * span];
  if (whole) { from = Math.ceil(from - 0.05); to = Math.max(from, Math.ceil(to) - 1); }
  else { from = Number(from.toPrecision(6)); to = Number(to.toPrecision(6)); }
  brush.part = null;
  go(changed({ [`r.${feature}`]: `${from}..${to}` }));
}

addEventListener("pointerdown", (event) => {
  const drawing = event.target.closest?.(".brush .facet-histogram");
  if (!drawing || event.button) return;
  event.preventDefault();
  brush.part = drawing.closest(".brush");
  brush.from = brush.to = shareAt(event, drawing);
});
addEventListener("pointermove", (event) => {
  if (!brush.part) return;
  brush.to = shareAt(event, $(".facet-histogram", brush.part));
  drawBrush();
});
addEventListener("pointerup", () => { if (brush.part) endBrush(); });
addEventListener("pointercancel", () => { brush.part = null; });

// --- clicks, typing and keys ---

function findFeature(wanted) {
  for (const part of document.querySelectorAll(".facet")) part.hidden = !part.dataset.name.includes(wanted.trim().toLowerCase());
}

async function findClass(input) {
  const rows = input.previousElementSibling;
  const wanted = input.value.trim();
  if (!wanted) { refreshSide(); return; }
  const asked = new URLSearchParams(query());
  asked.set("feature", input.dataset.feature);
  asked.set("find", wanted);
  let text;
  try { text = await fetchText(`${base()}/classes?${asked}`); } catch { return; }
  if (input.value.trim() === wanted) rows.innerHTML = text;
}

async function copyText(text, button) {
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; }
  catch { button.textContent = "Not allowed"; }
  setTimeout(() => { button.textContent = button.id === "copy-link" ? "Copy the link" : "Copy"; }, 1500);
}

addEventListener("click", (event) => {
  const target = event.target;
  if (target.closest(".scrubber, audio, video")) { if (target.closest(".cell")) event.preventDefault(); return; }
  const soft = target.closest("a[data-soft]");
  if (soft && document.body.dataset.page === "grid" && !event.metaKey && !event.ctrlKey && !event.shiftKey) {
    event.preventDefault();
    go(soft.getAttribute("href"));
    return;
  }
  const line = target.closest("#completions li");
  if (line) { complete([...line.parentNode.children].indexOf(line)); return; }
  const button = target.closest("button");
  if (!button) { if ($("#completions") && !target.closest(".where")) openList(false); return; }
  if (button.id === "theme") changeTheme();
  else if (button.id === "help-button") $("#help").showModal();
  else if (button.id === "export-button") $("#export").showModal();
  else if (button.id === "side-button") toggleSide();
  else if (button.id === "copy-link") copyText(location.href, button);
  else if (button.classList.contains("copy")) copyText($("pre", button.parentNode).textContent, button);
  else if (button.dataset.severity) {
    const show = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(show));
    for (const finding of document.querySelectorAll(".finding")) if (finding.dataset.severity === button.dataset.severity) finding.hidden = !show;
  }
});

function toggleSide() {
  const closed = document.body.classList.toggle("side-closed");
  $("#side-button").setAttribute("aria-expanded", String(!closed));
  state.grid?.resize();
}

addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog" || form.classList.contains("sides")) return;
  event.preventDefault();
  if (form.classList.contains("range")) {
    const [low, high] = [form.elements.low, form.elements.high].map((one) => one.value || one.placeholder);
    if (Number.isFinite(Number(low)) && Number.isFinite(Number(high))) go(changed({ [`r.${form.dataset.feature}`]: `${Number(low)}..${Number(high)}` }));
  }
});

addEventListener("input", (event) => {
  const target = event.target;
  if (target.id === "where") { clearTimeout(box.timer); box.timer = setTimeout(suggest, 120); }
  else if (target.id === "find-feature") findFeature(target.value);
  else if (target.classList.contains("find-class")) { clearTimeout(box.classes); box.classes = setTimeout(() => findClass(target), 200); }
  else if (target.id === "search-text") {
    clearTimeout(box.search);
    box.search = setTimeout(() => go(changed({ q: target.value.trim() })), 450);
  } else if (target.classList.contains("scrubber")) {
    const image = $("img[data-frames]", target.parentNode);
    image.src = `${image.dataset.frames}&i=${target.value}`;
    image.alt = image.alt.replace(/frame \d+/, `frame ${Number(target.value) + 1}`);
    $(".frames", target.parentNode).textContent = `${Number(target.value) + 1} / ${Number(target.max) + 1}`;
  }
});

addEventListener("change", (event) => {
  const target = event.target;
  if (target.id === "order") {
    go(changed(target.value === "sample" ? { sort: "", sample: String(Math.floor(Math.random() * 1e9)) } : { sort: target.value, sample: "" }));
  } else if (target.id === "datasets") location.href = target.value;
});

addEventListener("focusout", (event) => { if (event.target.id === "where") setTimeout(() => { if ($("#completions") && document.activeElement?.id !== "where") openList(false); }, 150); });

addEventListener("keydown", (event) => {
  const target = event.target;
  if (target.id === "where") { typedKey(event); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (target.closest?.("input, select, textarea, audio, video")) { if (event.key === "Escape") target.blur(); return; }
  const page = document.body.dataset.page;
  if (event.key === "?") { $("#help").showModal(); return; }
  if (page === "grid") {
    if (event.key === "/") { event.preventDefault(); $("#where").focus(); }
    else if (event.key === "s" && $("#search-text")) { event.preventDefault(); $("#search-text").focus(); }
    else if (event.key === "f") toggleSide();
    else if (event.key === "g") goToRecord();
    else if (event.key.startsWith("Arrow") && !target.closest?.("#side, #tools, nav")) { event.preventDefault(); state.grid.step(event.key); }
    else if (event.key === "Home") { event.preventDefault(); state.grid.go(0, true); }
    else if (event.key === "End") { event.preventDefault(); state.grid.go(state.grid.count - 1, true); }
  } else if (page === "record") {
    const link = { ArrowLeft: "#prev", ArrowRight: "#next", u: "#up", Escape: "#up" }[event.key];
    if (link) $(link)?.click?.();
  }
});

function goToRecord() {
  const wanted = prompt(`Go to position 0 to ${number.format(Math.max(0, state.grid.count - 1))}`);
  const position = Number(String(wanted ?? "").replaceAll(",", ""));
  if (wanted && Number.isInteger(position) && position >= 0 && position < state.grid.count) state.grid.go(position, true);
}

function showBroken(image) {
  if (image.classList.contains("mask")) { image.remove(); return; }
  const words = document.createElement("span");
  words.className = "broken";
  words.textContent = "This image cannot be decoded.";
  image.replaceWith(words);
}
addEventListener("error", (event) => { if (event.target instanceof HTMLImageElement) showBroken(event.target); }, true);
// Those that failed before this script was there; not those that are not loaded yet.
for (const image of [...document.images]) if (image.complete && image.getAttribute("src") && !image.naturalWidth) showBroken(image);

// --- parts of a page that arrive later ---

async function fetchPart(source) {
  const part = $("#similar");
  if (!part || !source) return;
  let text;
  try { text = await fetchText(source); } catch { return; }
  part.outerHTML = text;
  const next = $("#similar").dataset.source;
  if (next) setTimeout(() => fetchPart(next), 600);
}
addEventListener("click", (event) => {
  const link = event.target.closest("a[data-part]");
  if (link) { event.preventDefault(); fetchPart(link.getAttribute("href")); }
});
if ($("#similar")?.dataset.source) setTimeout(() => fetchPart($("#similar").dataset.source), 300);

if (document.body.dataset.page === "grid") startGrid();
else if (document.body.hasAttribute("data-running")) setTimeout(() => location.reload(), 700);
else poll();
