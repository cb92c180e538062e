"use strict";
// Pages work without this: it fetches what is scrolled to, joins calls to results, copies, and
// listens for new turns. Whatever comes from a turn arrives as HTML that the service has escaped.

const said = document.getElementById("said");
const say = (text) => { said.textContent = text; };
const byId = (id) => document.getElementById(id);

// --- Pieces of a long timeline -------------------------------------------------------------

const loading = new Map();

async function fragment(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) throw new Error(`${answer.status}`);
  const page = document.createElement("template");
  page.innerHTML = await answer.text();
  return page.content;
}

function load(chunk) {
  if (!chunk.dataset.src) return Promise.resolve();
  if (!loading.has(chunk)) {
    loading.set(chunk, fragment(chunk.dataset.src).then((content) => {
      chunk.replaceChildren(content);
      chunk.classList.remove("waiting");
      delete chunk.dataset.src;
      for (const rest of chunk.querySelectorAll("[data-src]")) seen.observe(rest);
      holdAgain();
    }).catch(() => { say("Some turns could not be fetched."); })
      .finally(() => { loading.delete(chunk); }));
  }
  return loading.get(chunk);
}

const timeline = byId("timeline");
const seen = timeline && new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) load(entry.target);
}, { rootMargin: "1200px 0px" });
if (timeline) for (const chunk of timeline.querySelectorAll("[data-src]")) seen.observe(chunk);

// The one that is yet to be fetched, if there is one.
function chunkOf(seq) {
  return [...document.querySelectorAll(".chunk[data-src]")]
    .find((one) => Number(one.dataset.first) <= seq && seq <= Number(one.dataset.last));
}

// Opens what an address points at, and folds around it.
async function goTo(id, seq) {
  // A piece may end early, where turns are long, and hold another one.
  for (let tries = 0; timeline && seq && !byId(id) && tries < 50; tries += 1) {
    const chunk = chunkOf(Number(seq));
    if (!chunk) break;
    await load(chunk);
  }
  const target = byId(id);
  if (!target) return false;
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  hold(target);
  const place = target.closest(".step");
  if (place) choose(place, false);
  return true;
}

// Scrolls to it, and again whenever turns that are fetched have moved it, until somebody goes on.
let held = null;
function hold(target) {
  held = target;
  target.scrollIntoView({ block: target.matches(".turn") ? "start" : "center" });
}
function holdAgain() {
  if (!held) return;
  hold(held);
  // What has come has its size when it has been shown.
  requestAnimationFrame(() => requestAnimationFrame(() => { if (held) hold(held); }));
}
for (const goesOn of ["wheel", "touchmove", "keydown", "mousedown"]) {
  document.addEventListener(goesOn, () => { held = null; }, { passive: true });
}

async function followHash() {
  const asked = new URLSearchParams(location.search).get("at");
  const id = decodeURIComponent(location.hash.slice(1)) || (asked ? `turn-${asked}` : "");
  if (!id) return;
  const at = id.startsWith("turn-") ? id.slice(5) : asked;
  await goTo(id, at);
}

// --- Calls and their results ---------------------------------------------------------------

function join(callId) {
  for (const one of document.querySelectorAll(".joined")) one.classList.remove("joined");
  if (!callId) return;
  for (const one of document.querySelectorAll("[data-call]")) {
    if (one.dataset.call === callId) one.classList.add("joined");
  }
}
document.addEventListener("mouseover", (event) => {
  join(event.target.closest?.("[data-call]")?.dataset.call);
});
document.addEventListener("focusin", (event) => {
  join(event.target.closest?.("[data-call]")?.dataset.call);
});

// What is opened shows its other half, too, wherever that stands.
async function showOther(details) {
  const isCall = details.classList.contains("call");
  const link = details.parentElement.querySelector(":scope > .jump");
  if (!link || details.querySelector(":scope > .other")) return;
  const id = `${isCall ? "result" : "call"}-${details.dataset.call}`;
  const box = document.createElement("div");
  box.className = "other";
  details.append(box);
  let other = byId(id);
  if (!other) {
    const seq = Number(link.dataset.seq);
    const turns = `${location.pathname.split("/").slice(0, 3).join("/")}/turns`;
    const content = await fragment(`${turns}?after=${seq - 1}&until=${seq}`).catch(() => null);
    other = content?.getElementById(id);
  }
  if (!other) {
    box.remove();
    return;
  }
  const title = document.createElement("p");
  title.className = "faint";
  title.textContent = isCall ? `Its result, in turn ${link.dataset.seq}` : `Its call, in turn ${link.dataset.seq}`;
  const words = [...other.children].filter((one) => one.matches(".words, .complaint, .media"));
  box.append(title, ...words.map((one) => one.cloneNode(true)));
}
document.addEventListener("toggle", (event) => {
  const details = event.target;
  if (details.open && details.matches?.("details[data-call]")) showOther(details);
}, true);

// --- Clicks --------------------------------------------------------------------------------

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure origin there is no clipboard, but there is a selection.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const before = button.textContent;
  button.textContent = "Copied";
  say("Copied");
  setTimeout(() => { button.textContent = before; }, 1200);
}

document.addEventListener("click", (event) => {
  const from = (what) => event.target.closest(what);
  const button = from("button");
  if (button?.dataset.copy !== undefined) {
    event.preventDefault();
    copy(button.dataset.copy, button);
  } else if (button?.dataset.copyFrom) {
    const source = byId(button.dataset.copyFrom);
    copy((source.content ?? source).textContent, button);
  } else if (button?.dataset.open) {
    byId(button.dataset.open).showModal();
  } else if (button && "fold" in button.dataset) {
    foldAll(button);
  } else if (from(".jump") && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    const link = from(".jump");
    if (!timeline) return;
    event.preventDefault();
    const id = decodeURIComponent(new URL(link.href).hash.slice(1));
    goTo(id, link.dataset.seq).then((done) => {
      if (done) history.replaceState(null, "", link.href);
      else location.href = link.href;
    });
  }
});

function foldAll(button) {
  const folds = [...document.querySelectorAll("main details")];
  const open = folds.some((one) => !one.open);
  for (const one of folds) one.open = open;
  const shown = button ?? document.querySelector("[data-fold]");
  if (shown) shown.textContent = open ? "Fold all" : "Open all";
}

// --- Rows that are narrowed by what is typed -----------------------------------------------

for (const field of document.querySelectorAll("[data-narrow]")) {
  const rows = [...byId(field.dataset.narrow)?.tBodies[0].rows ?? []];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let left = 0;
    rows.forEach((row, place) => {
      row.hidden = !texts[place].includes(wanted);
      left += !row.hidden;
    });
    say(`${left} rows`);
  });
}

// --- Ids are computed again here, too, where the browser can --------------------------------

async function recompute(row) {
  const shown = row.querySelector("[data-again]");
  const input = row.querySelector("[data-input]");
  if (!globalThis.crypto?.subtle || !shown || shown.dataset.done) return;
  shown.dataset.done = "yes";
  const bytes = new TextEncoder().encode(input.textContent);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const text = btoa(String.fromCharCode(...digest)).replaceAll("+", "-").replaceAll("/", "_");
  const id = `hist_tool_${text.slice(0, 24)}`;
  // Signs that cannot be seen are shown as others, and would give another sum.
  if (id === shown.dataset.again) shown.title = "computed by this browser, too";
}
document.addEventListener("toggle", (event) => {
  const row = event.target.closest?.("tr");
  if (row && event.target.open) recompute(row);
}, true);

// --- Keyboard ------------------------------------------------------------------------------

function choose(step, scroll = true) {
  for (const one of document.querySelectorAll(".here")) one.classList.remove("here");
  step.classList.add("here");
  if (scroll) {
    step.scrollIntoView({ block: "nearest" });
    (step.querySelector("tr a, td a") ?? step).focus({ preventScroll: true });
  }
}

function move(by) {
  const steps = [...document.querySelectorAll(".step")].filter((one) => !one.hidden);
  const place = steps.findIndex((one) => one.classList.contains("here"));
  const next = steps[Math.min(Math.max(place + by, 0), steps.length - 1)];
  if (next) choose(next);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, dialog")) {
    if (event.key === "Escape" && event.target.closest("input")) event.target.blur();
    return;
  }
  const here = document.querySelector(".here");
  const folds = here ? [...here.querySelectorAll("details")] : [];
  switch (event.key) {
    case "/": byId("lookup")?.focus(); break;
    case "?": byId("keys").showModal(); break;
    case "j": move(1); break;
    case "k": move(-1); break;
    case "e": foldAll(); break;
    case "o": {
      const open = folds.some((one) => !one.open);
      for (const one of folds) one.open = open;
      break;
    }
    case "r": here?.querySelector(".jump")?.click(); break;
    case "1": case "2": case "3": case "4": case "5":
      document.querySelectorAll(".tabs a")[Number(event.key) - 1]?.click();
      break;
    default: return;
  }
  event.preventDefault();
});

// --- New turns while an agent runs ---------------------------------------------------------

function listen(live) {
  let version = Number(live.dataset.version);
  let busy = Promise.resolve();
  const source = new EventSource(live.dataset.events);
  source.addEventListener("open", () => { live.classList.add("on"); live.textContent = "live"; });
  source.addEventListener("error", () => { live.classList.remove("on"); live.textContent = "not live"; });
  source.addEventListener("erased", () => {
    source.close();
    live.classList.remove("on");
    live.textContent = "erased";
    say("The conversation was erased.");
  });
  source.addEventListener("version", (event) => {
    const { version: told, updated_at: at } = JSON.parse(event.data);
    const last = byId("last-activity");
    last.dateTime = at;
    last.textContent = `${at.slice(0, 10)} ${at.slice(11, 19)}`;
    if (told <= version) live.textContent = "live; something changed: reload to see it";
    busy = busy.then(() => bring(told)).catch(() => { live.textContent = "some turns are missing"; });
  });
  async function bring(told) {
    while (version < told) {
      const after = version;
      const content = await fragment(`${live.dataset.turns}?after=${after}`);
      const turns = [...content.querySelectorAll(".turn")];
      if (!turns.length) return;
      version = Number(turns.at(-1).dataset.seq);
      add(content, turns, after + 1, version);
    }
  }
  function add(content, turns, first, last) {
    const near = innerHeight + scrollY > document.body.scrollHeight - 400;
    document.querySelector(".empty")?.remove();
    const chunk = document.createElement("section");
    chunk.className = "chunk";
    chunk.dataset.first = first;
    chunk.dataset.last = last;
    chunk.setAttribute("aria-label", `Turns ${first} to ${last}`);
    chunk.append(content);
    timeline.append(chunk);
    for (const turn of turns) for (const result of turn.querySelectorAll(".result[data-call]")) answered(result, turn.dataset.seq);
    byId("version").textContent = last.toLocaleString("en");
    say(`${turns.length} new turns`);
    if (near) turns.at(-1).scrollIntoView({ block: "end" });
  }
  function answered(result, seq) {
    const call = byId(`call-${result.dataset.call}`);
    const state = call?.querySelector(".state.open");
    if (!state) return;
    const told = ["denied", "interrupted", "unknown"].find((one) => result.classList.contains(one));
    state.className = `state ${told ?? "answered"}`;
    state.textContent = told ?? "answered";
    const link = document.createElement("a");
    link.className = "jump";
    link.href = `#result-${result.dataset.call}`;
    link.dataset.seq = seq;
    link.textContent = `result in turn ${seq}`;
    call.after(link);
  }
}

// --- Erasing, which asks for a key that may ------------------------------------------------

for (const form of document.querySelectorAll("[data-erase]")) {
  form.addEventListener("submit", async (event) => {
    if (event.submitter?.value !== "erase") return;
    event.preventDefault();
    const key = byId("erase-key")?.value;
    const complaint = form.querySelector(".complaint");
    const typed = byId("erase-id");
    if (typed.value.trim() !== typed.dataset.must) {
      complaint.hidden = false;
      complaint.textContent = `Type ${typed.dataset.must} to erase it.`;
      return;
    }
    const headers = key ? { Authorization: `Bearer ${key}` } : {};
    const answer = await fetch(form.dataset.erase, { method: "DELETE", headers });
    if (answer.status === 200) {
      location.href = "/";
      return;
    }
    const { left, detail } = await answer.json().catch(() => ({}));
    complaint.hidden = false;
    complaint.textContent = left
      ? `The conversation is erased, but ${left.turns} of its turns are not removed from the database yet. The service goes on.`
      : detail ?? `The service answered ${answer.status}.`;
  });
}

const live = byId("live");
if (live && globalThis.EventSource) listen(live);
addEventListener("hashchange", followHash);
followHash();
