"use strict";
// Figures of replies as numbers and small plots; the board's memory and the plan of its model as pictures.

const REPLIES_SHOWN = 40;
let past = []; // of replies, oldest first

function svg(tag, attributes = {}, ...inside) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...inside);
  return node;
}

const rows = pairs => pairs.flatMap(([name, value, colour]) =>
  [make("dt", {}, ...(colour ? [svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("circle", { cx: 5, cy: 5, r: 5, class: colour }))] : []), name), make("dd", {}, String(value))]);

// ---- of replies

function plot(name, values, unit) {
  const n = values.length, most = Math.max(...values, 1e-9), y = v => (38 - 34 * Math.max(0, v) / most).toFixed(2);
  const points = n < 2 ? `0,${y(values[0])} 100,${y(values[0])}` : values.map((v, i) => `${(i * 100 / (n - 1)).toFixed(2)},${y(v)}`).join(" ");
  return [make("span", { class: "hint" }, `${name}: ${values[n - 1]} ${unit}${n > 1 ? `, at most ${Math.max(...values)}` : ""}`),
    svg("svg", { class: "plot", viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": `${name} of the last ${n} replies: ${values.join(", ")} ${unit}` },
      svg("line", { x1: 0, y1: 39, x2: 100, y2: 39 }), svg("polyline", { points }))];
}

/** f: tokens, rate, first (s), cached, context, card (MB/s), warm (°C); what is not a number is not known. store: "card" or "disk". */
function figures(f, store) {
  const Store = store[0].toUpperCase() + store.slice(1);
  past = [...past, f].slice(-REPLIES_SHOWN);
  $("no-figures").hidden = true;
  $("figures").hidden = false;
  const shown = [["Tokens", number(f.tokens) ?? "–"], ["Tokens a second", number(f.rate) ?? "–"]];
  if (number(f.first) !== undefined) shown.push(["First token", f.first + " s"]);
  if (number(f.cached)) shown.push(["Not computed again", f.cached + " tokens"]);
  if (f.context) shown.push(["Context", f.context]);
  if (number(f.card)) shown.push([Store, f.card + " MB/s"]);
  if (number(f.stalled)) shown.push([`Waiting for the ${store}`, f.stalled + " %"]);
  if (number(f.warm) !== undefined) shown.push(["Temperature", f.warm + " °C"]);
  $("numbers").replaceChildren(...rows(shown));
  const of = key => past.filter(p => p.by === f.by).map(p => number(p[key])).filter(v => v !== undefined); // of the same board
  $("plots").replaceChildren(...[["Speed", "rate", "tokens/s"], [Store, "card", "MB/s"], ["Temperature", "warm", "°C"]].flatMap(([name, key, unit]) => of(key).length ? plot(name, of(key), unit) : []));
}

// ---- the board's memory

const REGION_TEXT = { meta: "tables, tokenizer", weights: "weights", io: "streaming", kv: "keys and values", scratch: "work space", learn: "what is learnt" };
const REGIONS = Object.keys(REGION_TEXT); // each has a colour of its own
const WIDTH = 300;

/** A bar of parts [class, bytes]; the last takes what rounding leaves. */
function bar(parts, all, y, height) {
  let at = 0;
  return parts.map(([colour, size]) => {
    const width = Math.max(size > 0 ? 1.5 : 0, Math.min(WIDTH - at, WIDTH * size / all)), rect = svg("rect", { x: at.toFixed(2), y, width: width.toFixed(2), height, class: colour });
    at += width;
    return rect;
  });
}

/** stats: the event `stats`; plan: the event `plan`, or null where the board knows none; whose it is. */
function memory(stats, plan, whose) {
  const regions = list(stats?.memory).map((m, i) => ({ name: label(m.name, 20), bytes: number(m.bytes) ?? 0, colour: "part" + (REGIONS.includes(m.name) ? REGIONS.indexOf(m.name) : i) % 6 })).filter(m => m.bytes > 0).slice(0, 12);
  const taken = regions.reduce((sum, m) => sum + m.bytes, 0), all = Math.max(number(plan?.memory_bytes) ?? 0, taken);
  $("memory-box").hidden = !taken;
  if (!taken) return;
  $("h-memory").textContent = "Memory of " + whose;
  const width = Math.max(1.5, WIDTH * taken / all), pictures = [];
  if (all > taken) { // the taken part of all memory, and that part enlarged below
    pictures.push(svg("rect", { x: 0, y: 0, width: WIDTH, height: 12, rx: 2, class: "free" }), svg("rect", { x: 0, y: 0, width: width.toFixed(2), height: 12, class: "part1" }));
    pictures.push(svg("polygon", { points: `0,12 ${width.toFixed(2)},12 ${WIDTH},34 0,34`, class: "funnel" }));
  }
  pictures.push(...bar(regions.map(r => [r.colour, r.bytes]), taken, 34, 22));
  const top = all > taken ? 0 : 34;
  $("memory").replaceChildren(
    svg("svg", { class: "map", viewBox: `0 ${top} ${WIDTH} ${56 - top}`, role: "img", "aria-label": `${bytes(taken)} of ${bytes(all)} are taken: ${regions.map(r => `${r.name} ${bytes(r.bytes)}`).join(", ")}` }, ...pictures),
    make("dl", {}, ...rows([...regions.map(r => [REGION_TEXT[r.name] ?? r.name, bytes(r.bytes), r.colour]), ["taken", bytes(taken)], ...(all > taken ? [["free", bytes(all - taken)]] : [])])));
}

// ---- what of a model is in it

const LAYERS_SHOWN = 160;

/** The layers as cells: full ones stay in memory, dashed ones come from the card for every token. */
function layers(n, streamed, slots, store) {
  const shown = Math.min(n, LAYERS_SHOWN), per = Math.min(shown, Math.max(16, Math.ceil(shown / 4))), size = Math.min(22, WIDTH / per), lines = Math.ceil(shown / per), cells = [];
  for (let i = 0; i < shown; i++) {
    const resident = i < Math.round(shown * (n - streamed) / n), place = { x: (i % per * size + 1).toFixed(2), y: (Math.floor(i / per) * size + 1).toFixed(2), width: (size - 2).toFixed(2), height: (size - 2).toFixed(2), rx: 2 };
    cells.push(svg("rect", { ...place, class: resident ? "layer part1" : "layer streamed" }));
  }
  const what = streamed ? `${n - streamed} of ${n} layers stay in memory, ${streamed} come from the ${store} through ${slots} slots` : `all ${n} layers stay in memory`;
  return svg("svg", { class: "map", viewBox: `0 0 ${WIDTH} ${(lines * size).toFixed(2)}`, role: "img", "aria-label": what }, ...cells);
}

/** store: "card" or "disk". */
function plan(p, store) {
  const n = number(p?.layers), streamed = Math.min(n ?? 0, Math.max(0, number(p?.layers_streamed) ?? 0)), slots = number(p?.slots) ?? 0, read = number(p?.read_bytes_per_pass) ?? 0;
  $("plan-box").hidden = !(n > 0);
  if (!(n > 0)) return;
  const shown = [["Layers in memory", streamed ? `${n - streamed} of ${n}` : `all ${n}`]];
  if (streamed || p.head_streamed) shown.push(["Slots for the others", `${slots} of ${bytes(number(p.slot_bytes) ?? 0)}`]);
  if (p.head_streamed) shown.push(["Output matrix in memory", `${number(p.head_pinned_percent) ?? 0} %`]);
  if (read) shown.push([`From the ${store} for a token`, bytes(read)]);
  if (p.residency === "in place") shown.push(["Used where it lies", bytes(number(p.file_bytes) ?? 0)]);
  if (number(p.expert_cache_bytes)) shown.push(["Experts kept", bytes(p.expert_cache_bytes)]);
  if (number(p.kv_card_bytes)) shown.push([`Keys and values on the ${store}`, bytes(p.kv_card_bytes)]);
  if (number(p.context_limit_tokens)) shown.push(["Context", p.context_limit_tokens + " tokens"]);
  if (number(p.decode_tokens_per_s)) shown.push(["Speed predicted", `${p.decode_tokens_per_s} tokens/s`]);
  $("plan").replaceChildren(layers(Math.round(n), Math.round(streamed), slots, store), ...(streamed ? [make("p", { class: "hint" }, `A dashed layer comes from the ${store} for every token.`)] : []), make("dl", {}, ...rows(shown)));
}
