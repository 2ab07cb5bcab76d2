// What every browser test stands on: the built page, served below a sub-path, in a Chromium that sees no other host.
//
// A test file reads
//
//     import { page, shot } from "./lib.mjs";
//     test("…", page(async ({ open }) => { const tab = await open("#…"); … }));
//
// and fails, besides for its own assertions, when the page logs an error, throws, or asks another origin for anything.

import assert from "node:assert/strict";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { delimiter, extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { after } from "node:test";
import { chromium } from "playwright-core";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** The built page; `cargo xtask build` writes it. */
export const DIST = process.env.LOCKSCOPE_DIST ?? join(HERE, "..", "..", "dist");
/** A sub-path that no build knows, so that an absolute reference cannot work by accident. */
export const SUB_PATH = "/some/where/lockscope/";
const SHOTS = join(HERE, "shots");

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

// ---- Server --------------------------------------------------------------------------------------------------------

async function fileFor(url) {
  const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
  if (!path.startsWith(SUB_PATH)) return null;
  const file = normalize(join(DIST, path.slice(SUB_PATH.length) || "index.html"));
  if (!file.startsWith(normalize(DIST) + sep)) return null;
  const found = await stat(file).catch(() => null);
  return found?.isFile() ? file : null;
}

/**
 * Serves `dist` below `SUB_PATH` on a free port.
 * `intercept(request, response)` may answer a request itself by returning true, to play a broken server.
 */
export async function serveDist({ intercept } = {}) {
  if (!existsSync(join(DIST, "index.html"))) {
    throw new Error(`There is no built page in ${DIST}. Run \`cargo xtask build\` first.`);
  }
  const server = createServer(async (request, response) => {
    if (await intercept?.(request, response)) return;
    const file = await fileFor(request.url);
    if (!file) {
      response.writeHead(404, { "Content-Type": "text/plain" }).end("not found\n");
      return;
    }
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "Content-Type": type, "Cache-Control": "no-cache" });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { origin, url: origin + SUB_PATH, close };
}

// ---- Browser -------------------------------------------------------------------------------------------------------

export function chromiumPath() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const folders = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];
  const places = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = places.find((place) => existsSync(place));
  if (!found) throw new Error("Chromium was not found. Install it, or set the variable CHROMIUM to its path.");
  return found;
}

// Without these, Chromium talks to its maker at every start, and waits for answers where there is no network.
const QUIET = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--no-first-run",
];
// Chromium refuses its sandbox to root, who runs the tests in most containers.
const SANDBOX = process.getuid?.() === 0 ? ["--no-sandbox"] : [];

let shared;

/** One browser and one server for all tests of a file; both end with the file. */
function environment() {
  shared ??= (async () => {
    const server = await serveDist();
    const browser = await chromium.launch({
      executablePath: chromiumPath(),
      args: [...QUIET, ...SANDBOX],
      chromiumSandbox: SANDBOX.length === 0,
    });
    return { server, browser };
  })();
  return shared;
}

after(async () => {
  if (!shared) return;
  const { server, browser } = await shared;
  await browser.close();
  await server.close();
});

// ---- Hands ---------------------------------------------------------------------------------------------------------

/**
 * Waits until what was pressed is drawn, and the focus is where it leads. A page that is slow draws in turns, and whoever
 * looks at once looks in between. Before a next hand it finishes; one that only comes by is enough.
 */
export async function drawn(tab) {
  const finished = tab.evaluate(async () => {
    const comesBy = () => dispatchEvent(new PointerEvent("pointerdown"));
    comesBy();
    // What the page leaves for the next turn is where the focus goes.
    await new Promise((next) => { setTimeout(next); });
    comesBy();
  });
  // A press may lead to another page, or close this one: then there is nothing to wait for.
  await finished.catch(() => {});
}

/**
 * Lets so many milliseconds pass for the page. Whatever it had planned to do by then is done, however slow it is: that
 * cannot be said of the clock on the wall.
 */
export const passes = (tab, milliseconds) => tab.evaluate((all) => new Promise((next) => { setTimeout(next, all); }), milliseconds);

const waits = (act, tab) => async function (...args) {
  const result = await act.apply(this, args);
  if (patient.has(tab ?? this.page())) await drawn(tab ?? this.page());
  return result;
};

/** The pages whose hands wait. Where there are no scripts, nothing is drawn later. */
const patient = new WeakSet();
let taught = false;

/** What a hand does to this page has come of it when it returns; only `down` and `up` of a key return at once. */
function teachPatience(tab) {
  patient.add(tab);
  tab.keyboard.press = waits(tab.keyboard.press, tab);
  tab.keyboard.type = waits(tab.keyboard.type, tab);
  tab.mouse.click = waits(tab.mouse.click, tab);
  tab.mouse.up = waits(tab.mouse.up, tab);
  tab.touchscreen.tap = waits(tab.touchscreen.tap, tab);
  if (taught) return;
  taught = true;
  const locators = Object.getPrototypeOf(tab.locator("body"));
  for (const name of ["check", "click", "fill", "press", "selectOption", "tap"]) locators[name] = waits(locators[name]);
}

// ---- Pages ---------------------------------------------------------------------------------------------------------

/** Writes down in `trouble` what a page does wrong, and keeps it from reaching any other origin. */
async function watch(context, origin, trouble) {
  await context.route(
    (url) => url.origin !== origin && !["data:", "blob:"].includes(url.protocol),
    (route) => {
      trouble.foreign.push(route.request().url());
      return route.abort();
    },
  );
  context.on("request", (request) => trouble.requests.push(request.url()));
  context.on("console", (message) => {
    if (message.type() === "error") trouble.errors.push(`console: ${message.text()}`);
  });
  context.on("weberror", (error) => trouble.errors.push(`thrown: ${error.error().stack ?? error.error()}`));
}

/**
 * Wraps a test of the page. The test gets
 *
 * - `open(hash, options)`: opens the page in a fresh profile and waits until the program runs (unless
 *   `options.started` is false); `options` are `viewport`, `colorScheme`, `reducedMotion`, `url` (of another server)
 *   and whatever else a Playwright context takes;
 * - `trouble`: `errors`, `foreign` and `requests` so far. A test that provokes an error empties `trouble.errors`.
 */
export function page(body) {
  return async (t) => {
    const { server, browser } = await environment();
    const contexts = [];
    // One place for all contexts, so that a test may open the page more than once.
    const trouble = { errors: [], foreign: [], requests: [] };
    const open = async (hash = "", { url = server.url, started = true, ...options } = {}) => {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        colorScheme: "light",
        reducedMotion: "no-preference",
        ...options,
      });
      contexts.push(context);
      if (options.javaScriptEnabled !== false) context.on("page", teachPatience);
      await watch(context, new URL(url).origin, trouble);
      const tab = await context.newPage();
      await tab.goto(url + hash);
      if (started) await running(tab);
      return tab;
    };
    try {
      await body({ open, trouble, t });
      assert.deepEqual(trouble.errors, [], "the page logged or threw errors");
      assert.deepEqual(trouble.foreign, [], "the page asked another origin");
    } finally {
      for (const context of contexts) await context.close();
    }
  };
}

/** Waits for the start page, or until the program has replaced the shell; a failed start fails at once, with its words. */
export async function running(tab) {
  const state = await tab.waitForFunction(() => {
    const problem = document.querySelector("#loading-problem p, dialog.panic textarea");
    if (problem) return problem.value ?? problem.textContent;
    if (document.querySelector("#home")) return "running";
    // A lesson takes the focus once it listens to keys.
    const listens = document.querySelector("#lesson") && document.activeElement !== document.body;
    return listens || document.querySelector(".wall, #app .page [role=alert]") ? "running" : false;
  });
  assert.equal(await state.jsonValue(), "running");
  // The picture takes the width that it finds once it is laid out.
  await tab.evaluate(() => new Promise((next) => { requestAnimationFrame(() => requestAnimationFrame(next)); }));
  await drawn(tab);
}

/** Unfolds what waits behind one line of the story's column: `runs` or `pauses`. */
export const unfold = (tab, id) => tab.locator(`#${id}`).evaluate((details) => { details.open = true; });

/** Waits until the focus is on the element with this id (or on one that the pattern matches): it may move after rendering. */
export async function focusIs(tab, id) {
  const [source, exact] = id instanceof RegExp ? [id.source, false] : [id, true];
  const found = () => tab.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
  await tab.waitForFunction(([text, whole]) => {
    const now = document.activeElement?.id || document.activeElement?.tagName || "";
    return whole ? now === text : new RegExp(text).test(now);
  }, [source, exact], { timeout: 3000 }).catch(async () => assert.fail(`the focus is on ${await found()}, and not on ${source}`));
}

/** Saves a picture of the page (or of one element) for people to look at. */
export async function shot(target, name) {
  await mkdir(SHOTS, { recursive: true });
  await target.screenshot({ path: join(SHOTS, `${name}.png`), animations: "disabled" });
}

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Rules that axe-core leaves out unless it is asked. */
const MORE_RULES = ["target-size", "label-content-name-mismatch", "css-orientation-lock", "focus-order-semantics"];

/** What axe-core cannot decide, or decides without scrolling, and why that is all right here. Anything else fails. */
const UNDECIDED = [
  {
    rule: "target-size",
    where: ".tabs *",
    key: "partiallyObscured",
    why: "What lies below the bar that sticks to the bottom of a phone scrolls into view.",
  },
  {
    rule: "color-contrast",
    where: "svg *, .lane",
    why: "It cannot see what lies behind a picture's words; the palette's contrasts are a native test.",
  },
  {
    rule: "color-contrast",
    where: ".unit, .grip-hint",
    why: "A unit of one letter, and a hint that lies over the picture where nothing else stands.",
  },
  {
    rule: "color-contrast",
    where: "dialog *",
    why: "It does not know that a modal dialog lies above everything, and takes the page for what covers it.",
  },
  {
    rule: "color-contrast",
    where: ".words *, .side *, .tabpanel *",
    key: "elmPartiallyObscured",
    why: "A box that scrolls cuts its words at its edge.",
  },
  {
    rule: "color-contrast",
    where: ".words *, .side *, .tabpanel *, .tablist *, #transport *",
    key: "elmPartiallyObscuring",
    why: "The same, seen from the other side; and the bar that sticks to the bottom of a phone.",
  },
  {
    rule: "color-contrast",
    where: ".tabpanel input",
    key: "emptyValue",
    why: "An empty field that lies under the same bar; it scrolls into view.",
  },
  {
    rule: "color-contrast",
    where: ".frame-picture a",
    why: "What the edge of a picture cuts off counts as lying behind the words below it.",
  },
  {
    rule: "color-contrast",
    where: ".handout code",
    why: "Code in a line of text that breaks into two boxes; its colours are those of the text around it.",
  },
  {
    rule: "color-contrast",
    where: ".changed",
    key: "nonBmp",
    why: "A sign, in the colour of the words around it; the word for it stands beside it.",
  },
  {
    rule: "color-contrast",
    where: ".tabs *, .stage-scroll *",
    key: "bgOverlap",
    why: "What lies below the bar that sticks to the bottom of a phone scrolls into view.",
  },
  {
    rule: "color-contrast",
    where: ".site .ends, .site .ends *",
    key: "bgOverlap",
    why: "A frame of a film strip shows a piece of its picture, and axe takes the rest for a thing that lies over what follows.",
  },
  {
    rule: "color-contrast",
    where: ".knows th, .knows th *",
    key: "bgOverlap",
    why: "A heading beside several rows of a table lies over all of them, and they have the page's own ground.",
  },
  {
    rule: "color-contrast",
    where: ".knows td",
    key: "shortTextContent",
    why: "Below the edge of a box that scrolls it sees no ground, and then says of a single digit that it is short; its colours are those of the longer words beside it.",
  },
  {
    rule: "color-contrast",
    where: ".machine samp",
    key: "bgOverlap",
    why: "What a terminal prints in several lines is one inline box that the next line lies over, on the same ground.",
  },
];

/** Fails on anything that axe-core finds, each finding with the elements it is about. */
export async function accessible(tab, options = {}) {
  // Evaluated rather than added as a script: the page's own policy forbids foreign scripts, and stays in force.
  await tab.evaluate(await readFile(AXE, "utf8"));
  // What is drawn anew while axe looks is found and then no longer there: it looks at a page at rest.
  await tab.evaluate(() => new Promise((done) => {
    const rest = () => setTimeout(done, 100);
    let timer = rest();
    const watch = new MutationObserver(() => { clearTimeout(timer); timer = rest(); });
    watch.observe(document.body, { subtree: true, childList: true, attributes: true });
    setTimeout(done, 3000);
  }));
  const rules = Object.fromEntries(MORE_RULES.map((rule) => [rule, { enabled: true }]));
  const found = await tab.evaluate(async ([axeOptions, allowed]) => {
    const result = await globalThis.axe.run(document, axeOptions);
    const keys = (node) => [...node.any, ...node.all, ...node.none].map(({ data }) => data?.messageKey ?? "");
    const told = ({ id, help, nodes }) => ({ id, help, nodes: nodes.map((node) => [node.html.slice(0, 200), ...(node.any ? keys(node) : [])].join(" ")) });
    const open = ({ id, nodes }) => nodes.filter((node) => {
      const element = document.querySelector(node.target[0]);
      return !allowed.some(({ rule, where, key }) =>
        rule === id && element?.matches(where) && (!key || keys(node).includes(key)));
    });
    const all = [...result.violations, ...result.incomplete];
    const left = all.map((finding) => ({ ...finding, nodes: open(finding) }));
    return left.filter(({ nodes }) => nodes.length > 0).map(told);
  }, [{ ...options, rules: { ...rules, ...options.rules } }, UNDECIDED]);
  assert.deepEqual(found, []);
}
