// Shows the start page or a lesson, loads the program for the latter, and is what remains when the program cannot: it
// explains a failed start, and a panic later on. It does not depend on the program in any way, so it can still speak when
// that has stopped.

/** How long the loading may stand still before the reader is told. */
const STALL_MS = 15_000;

const WORDS = {
  loading: (percent) => `Loading the simulator: ${percent} %`,
  stalled: "Nothing has arrived for a while. The connection may be slow or gone. You can wait, or try again.",
  noWebAssembly:
    "This browser has no WebAssembly, or it is switched off (some “lockdown” modes do that). "
    + "The simulation needs it. Use a current Firefox, Chrome, Edge or Safari, or allow it for this page.",
  notFetched: (what) =>
    `A part of the page could not be loaded (${what}). `
    + "Check the connection and try again. If it stays like this, the copy of the page on this server is incomplete.",
  notStarted: (what) =>
    "The program was loaded, but this browser could not start it. "
    + `A newer version of the browser usually can. What it said: ${what}`,
  panicTitle: "Lockscope has stopped",
  panic:
    "This is a mistake in Lockscope, not yours. The page behind this message does not react any more. "
    + "The report holds the link to the run that you were looking at: reloading opens it again, "
    + "and if it stops there again, starting over leaves it.",
  reload: "Reload at this link",
  startOver: "Start over",
  copy: "Copy report",
  copied: "Copied.",
  notCopied: "The browser did not allow copying. The report is selected: copy it with the keyboard.",
  report: "Report",
  unknown: (what) => `There is no page “${what}”. The link may be cut off, or of another edition. Here are the lessons.`,
  noLesson: (id) => `There is no lesson “${id}” here. The link may be cut off, or of another edition. Here are the lessons.`,
};

/** An error whose message is already meant for the reader. */
class Explained extends Error {}

const byId = (id) => document.getElementById(id);

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// ---- Loading -------------------------------------------------------------------------------------------------------

/** Passes a response on and reports how many bytes have come by. */
function counted(response, onBytes) {
  let bytes = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      onBytes(bytes);
      controller.enqueue(chunk);
    },
  });
  // The type is set here because some servers do not know it, and the browser compiles while loading only with it.
  return new Response(response.body.pipeThrough(counter), { headers: { "Content-Type": "application/wasm" } });
}

async function fetchProgram(address, onBytes) {
  let response;
  try {
    response = await fetch(address, { credentials: "same-origin" });
  } catch (error) {
    throw new Explained(WORDS.notFetched(error.message));
  }
  if (!response.ok) {
    throw new Explained(WORDS.notFetched(`${response.status} ${response.statusText}`.trim()));
  }
  return counted(response, onBytes);
}

async function importBindings(address) {
  try {
    return await import(address);
  } catch (error) {
    throw new Explained(WORDS.notFetched(error.message));
  }
}

/** Shows how much of the program has arrived; returns the function to call at each step. */
function progressDisplay(total) {
  byId("loading").hidden = false;
  byId("loading-ways").hidden = true;
  byId("loading-retry").addEventListener("click", () => location.reload());
  let timer;
  const waitForMore = () => {
    clearTimeout(timer);
    timer = setTimeout(() => showProblem(WORDS.stalled), STALL_MS);
  };
  waitForMore();
  return {
    arrived(bytes) {
      // Once the program runs, the shell is gone.
      const progress = byId("loading-progress");
      if (!progress) return;
      const share = Math.min(bytes / total, 1);
      progress.value = share;
      byId("loading-words").textContent = WORDS.loading(Math.floor(share * 100));
      byId("loading-problem").textContent = "";
      byId("loading-retry").hidden = true;
      waitForMore();
    },
    ended: () => clearTimeout(timer),
  };
}

/** Says in the shell why there is no page yet, and offers to try again. */
function showProblem(words) {
  const problem = byId("loading-problem");
  if (!problem) {
    globalThis.lockscopePanic(words);
    return;
  }
  problem.replaceChildren(element("p", {}, words));
  byId("loading-retry").hidden = false;
  byId("loading-ways").hidden = false;
}

/** An address in the page, as seen from this file. */
const seenFromHere = (address) => new URL(address, document.baseURI).href;

async function boot() {
  const { js, wasm, bytes } = byId("boot").dataset;
  const display = progressDisplay(Number(bytes));
  try {
    if (typeof WebAssembly !== "object") throw new Explained(WORDS.noWebAssembly);
    const [bindings, response] = await Promise.all([
      importBindings(seenFromHere(js)),
      fetchProgram(seenFromHere(wasm), display.arrived),
    ]);
    await bindings.default({ module_or_path: response });
  } catch (error) {
    // A panic during the start has already been shown, with its own message.
    if (panicked) return;
    console.error(error);
    const lostOnTheWay = error instanceof TypeError && /fetch|network|load/i.test(error.message);
    if (error instanceof Explained) showProblem(error.message);
    else if (lostOnTheWay) showProblem(WORDS.notFetched(error.message));
    else showProblem(WORDS.notStarted(error.message ?? String(error)));
    byId("loading")?.setAttribute("hidden", "");
    byId("loading-retry")?.focus();
  } finally {
    display.ended();
  }
}

// ---- Panics --------------------------------------------------------------------------------------------------------

let panicked = false;

function reportOf(message) {
  const build = document.querySelector('meta[name="lockscope-build"]')?.content ?? "unknown";
  return [message, "", `Link: ${location.href}`, `Build: ${build}`, `Browser: ${navigator.userAgent}`].join("\n");
}

async function copy(text, area, status) {
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = WORDS.copied;
  } catch {
    // Refused, or not a secure context, where there is no clipboard at all.
    area.focus();
    area.select();
    status.textContent = WORDS.notCopied;
  }
}

function startOver() {
  // Only the fragment describes the run; without it the page opens at its beginning.
  history.replaceState(null, "", location.pathname + location.search);
  location.reload();
}

/** Covers the page after a panic. The program calls this with the panic's message and place; only the first counts. */
globalThis.lockscopePanic = (message) => {
  if (panicked) return;
  panicked = true;
  console.error(`Lockscope panicked: ${message}`);
  const report = reportOf(message);
  const title = element("h2", { id: "panic-title", textContent: WORDS.panicTitle });
  const words = element("p", { id: "panic-words", textContent: WORDS.panic });
  const area = element("textarea", { id: "panic-report", readOnly: true, rows: 8, value: report });
  const label = element("label", { htmlFor: "panic-report", textContent: WORDS.report });
  const status = element("p", { role: "status" });
  const button = (text, onclick) => element("button", { type: "button", textContent: text, onclick });
  const reload = button(WORDS.reload, () => location.reload());
  const buttons = element(
    "p",
    { className: "panic-buttons" },
    reload,
    button(WORDS.startOver, startOver),
    button(WORDS.copy, () => copy(report, area, status)),
  );
  const dialog = element("dialog", { className: "panic" }, title, words, label, area, buttons, status);
  dialog.setAttribute("role", "alertdialog");
  dialog.setAttribute("aria-labelledby", "panic-title");
  dialog.setAttribute("aria-describedby", "panic-words");
  // What lies behind is dead, so Escape must not uncover it; browsers that do not know the attribute ask by `cancel`.
  dialog.setAttribute("closedby", "none");
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(dialog);
  dialog.showModal();
  reload.focus();
};

/** A trap without a panic before it: the stack ran out, or memory did. */
function onUncaught(error) {
  const trapped = typeof WebAssembly === "object" && error instanceof WebAssembly.RuntimeError;
  const stackRanOut = error instanceof RangeError && /call stack|recursion/i.test(error.message);
  if (trapped || stackRanOut) globalThis.lockscopePanic(String(error));
}

addEventListener("error", (event) => onUncaught(event.error));
addEventListener("unhandledrejection", (event) => onUncaught(event.reason));

// ---- The start page, or a lesson -----------------------------------------------------------------------------------

let booted;

/** Loads the program, once. */
function load() {
  booted ??= boot();
}

/** Colours that the reader chose, before the program runs and on the start page, where it never does. */
function colours() {
  let kept = null;
  try {
    kept = localStorage.getItem("lockscope.settings");
  } catch {
    // Storage may be forbidden; then the system's colours are the reader's.
  }
  const asked = /[?&]theme=(auto|light|dark)\b/.exec(location.search + location.hash);
  const theme = asked ?? /\btheme=(auto|light|dark)\b/.exec(kept ?? "");
  document.documentElement.dataset.theme = theme?.[1] ?? "auto";
}

/** Words that somebody else wrote, as long as a line. */
const shortened = (text) => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

/** The lesson that an address leads to. */
const lessonOf = (hash) => /^#\/lesson\/([a-z0-9-]+)(?:\?|$)/.exec(hash)?.[1];

/** The second half of the start page. */
const CASES = "#/cases";

/** The address before this one. */
let last = "";

/** Lessons that the server does not have. */
const missing = new Set();

/** Asks the server for a lesson that the start page does not name, so that nobody waits for a program in vain. */
async function ask(id) {
  try {
    const { status } = await fetch(`lessons/${id}.json`, { method: "HEAD", credentials: "same-origin" });
    if (status === 404) missing.add(id);
  } catch {
    // Without an answer the program says why.
  }
  if (missing.has(id) && lessonOf(location.hash) === id) show();
}

// Beside a lesson the start page would only be weight: it is kept here until it is wanted again.
const home = byId("home");

/** How far down the start page was when a lesson took its place, and which. */
let left = { top: 0, id: "" };

/** A link was followed to where the page is now; otherwise the reader went back, or wrote the address. */
let followed = false;

/** Shows what the address asks for. */
function show() {
  const { hash } = location;
  const id = lessonOf(hash);
  const lesson = id && !missing.has(id);
  const known = lesson || ["", "#", "#/", CASES].includes(hash);
  const cameBack = !lesson && (!home.isConnected || last === CASES);
  last = hash;
  if (!lesson) byId("app").before(home);
  else if (home.isConnected) {
    left = { top: scrollY, id };
    home.remove();
  }
  byId("app").hidden = !lesson;
  if (!lesson) byId("unknown").hidden = known;
  if (!known) {
    const words = id ? WORDS.noLesson(shortened(id)) : WORDS.unknown(shortened(hash.replace(/^#\/?/, "")));
    byId("unknown").textContent = words;
  }
  if (lesson) {
    const read = byId("loading-read");
    if (read) read.href = `lessons/${id}.html`;
    if (!home.querySelector(`[href="#/lesson/${id}"]`)) ask(id);
    load();
  } else {
    document.title = "Lockscope";
    if (hash === CASES) {
      byId("cases-title").focus();
      byId("cases-title").scrollIntoView();
    } else if (cameBack && followed) {
      scrollTo(0, 0);
      byId("start").focus();
    } else if (cameBack) {
      // Whoever goes back goes on where they were.
      const link = left.top > 0 ? home.querySelector(`[href="#/lesson/${left.id}"]`) : null;
      (link ?? byId("start")).focus({ preventScroll: true });
      scrollTo(0, left.top);
    }
  }
  followed = false;
}

colours();
show();
addEventListener("hashchange", show);
addEventListener("click", (event) => { followed = Boolean(event.target.closest?.("a[href]")); }, true);
// Whoever is about to open a lesson need not wait for all of it afterwards.
for (const sign of ["pointerover", "focusin", "touchstart"]) {
  home.addEventListener(sign, (event) => event.target.closest('[href^="#/lesson/"]') && load(), { passive: true });
}
