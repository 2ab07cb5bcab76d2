// Measures what BENCHMARKS.md says of the page in a browser. It asserts nothing: figures depend on the machine.
//
//     cargo xtask build && node tests/browser/measure.mjs [line | frames | long | crowd]

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { DIST, chromiumPath } from "./lib.mjs";

const TYPES = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json",
  ".mjs": "text/javascript", ".svg": "image/svg+xml", ".wasm": "application/wasm",
};

/** A static host that compresses, as real ones do; `change` may rewrite a file on its way. */
async function host(change = (_, text) => text) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    const name = path === "/" ? "index.html" : path.slice(1);
    const file = await readFile(join(DIST, name)).catch(() => null);
    if (!file) return response.writeHead(404).end();
    const body = name.endsWith(".json") ? Buffer.from(change(name, file.toString())) : file;
    response.writeHead(200, { "Content-Type": TYPES[extname(name)] ?? "text/plain", "Content-Encoding": "gzip" });
    response.end(gzipSync(body, { level: 9 }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

const percentile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};

const browser = await chromium.launch({ executablePath: chromiumPath(), args: ["--no-sandbox", "--disable-gpu"] });
const wide = { viewport: { width: 1280, height: 800 } };

/** Opens an address on a slow line and a slow processor: 1.6 Mbit/s, 150 ms there and back, a quarter of the speed. */
async function slowly(url, ready) {
  const context = await browser.newContext(wide);
  const tab = await context.newPage();
  const session = await context.newCDPSession(tab);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8,
  });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const start = Date.now();
  await tab.goto(url, { waitUntil: "commit" });
  await ready(tab);
  const usable = Date.now() - start;
  // A page can be usable before the browser has told that it painted.
  const painted = await tab.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const text = await painted.jsonValue();
  await context.close();
  return { text: Math.round(text), usable };
}

/** The script time of each animation frame while a lesson plays through, or for `most` milliseconds, in milliseconds. */
async function frames(url, speed, most = 1e9) {
  const context = await browser.newContext(wide);
  const tab = await context.newPage();
  await tab.addInitScript(() => {
    globalThis.frameTimes = [];
    const real = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.requestAnimationFrame = (call) => real((now) => {
      const start = performance.now();
      call(now);
      // What the frame sets off runs as microtasks after it, and is part of it; painting is not script.
      let turns = 30;
      const turn = () => {
        if (turns-- > 0) queueMicrotask(turn);
        else globalThis.frameTimes.push(performance.now() - start);
      };
      turn();
    });
  });
  await tab.goto(url);
  await tab.locator(".stage").waitFor();
  await tab.getByRole("combobox", { name: "Speed" }).selectOption({ label: speed });
  const lanes = await tab.locator(".lane").count();
  const end = Date.now() + most;
  for (let tries = 0; tries < 40 && Date.now() < end; tries++) {
    await tab.getByRole("button", { name: "Play", exact: true }).click();
    const rests = tab.getByRole("button", { name: "Play", exact: true });
    await rests.waitFor({ timeout: Math.min(60_000, Math.max(1, end - Date.now())) }).catch(() => {});
    const [step, all] = (await tab.locator(".readout span").first().innerText()).match(/\d+/g) ?? [];
    if (step === all) break;
  }
  const times = await tab.evaluate(() => globalThis.frameTimes);
  await context.close();
  return { lanes, times };
}

function told(what, times) {
  const figure = (share) => percentile(times, share).toFixed(2);
  console.log(`${what}: ${times.length} frames, script p50 ${figure(0.5)} ms, p95 ${figure(0.95)} ms`);
}

/** Opens an address in a tab that tells the processor's time: what else the machine does is no part of that. */
async function opened(url) {
  const context = await browser.newContext(wide);
  const tab = await context.newPage();
  const session = await context.newCDPSession(tab);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const start = Date.now();
  await tab.goto(url);
  await tab.locator(".stage").waitFor({ timeout: 60_000 });
  const shown = Date.now() - start;
  // What opening still does once all is in sight is no part of the first deed.
  await tab.waitForTimeout(500);
  return { tab, session, shown };
}

const nodes = (tab) => tab.evaluate(() => document.querySelectorAll("*").length);

/** What the page's one thread has done, in milliseconds: script with the layout that it forces, and all with drawing. */
async function done(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return ["ScriptDuration", "TaskDuration"].map((name) => metrics.find((m) => m.name === name).value * 1000);
}

/** Does something in the page many times, and prints what each costs until it is drawn. */
async function many({ tab, session }, name, times, act) {
  const costs = [];
  for (let i = 0; i < times; i++) {
    const before = await done(session);
    await tab.evaluate(`(async (i) => {
      ${act}
      for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    })(${i})`);
    costs.push((await done(session)).map((after, which) => after - before[which]));
    await tab.waitForTimeout(30);
  }
  const [script, all] = [0, 1].map((which) => {
    const list = costs.map((cost) => cost[which]);
    const figures = [0.5, 0.99, 1].map((share) => percentile(list, share).toFixed(1));
    return `p50 ${figures[0]} ms, p99 ${figures[1]} ms, most ${figures[2]} ms`;
  });
  console.log(`${name}: script ${script}; with drawing ${all}`);
}

const SCRUB = `
  const range = document.querySelector("input[type=range]");
  range.value = String(Math.floor(Number(range.max) * ((i * 183) % 301) / 301));
  range.dispatchEvent(new Event("input", { bubbles: true }));`;
const STEP_BACK = `
  const key = new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true });
  document.querySelector("#lesson").dispatchEvent(key);`;
const SELECT = `
  const box = document.querySelector(".stage-scroll").getBoundingClientRect();
  const seen = [...document.querySelectorAll("svg.picture g[data-event]")].filter((mark) => {
    const at = mark.getBoundingClientRect();
    return at.top > box.top + 80 && at.bottom < box.bottom && at.width > 0;
  });
  const at = seen[i % seen.length].getBoundingClientRect();
  const place = { clientX: at.left + at.width / 2, clientY: at.top + at.height / 2, bubbles: true };
  document.elementFromPoint(place.clientX, place.clientY).dispatchEvent(new MouseEvent("click", place));`;

const parts = {
  async line() {
    const site = await host();
    const home = await slowly(site.url, (tab) => tab.locator(".card-link").first().waitFor());
    console.log(`start page on a slow line: text after ${home.text} ms, links after ${home.usable} ms`);
    const lesson = await slowly(`${site.url}#/lesson/lease-expiration`, async (tab) => {
      await tab.locator(".stage").waitFor({ timeout: 60_000 });
      await tab.keyboard.press("ArrowRight");
      await tab.locator('.stage[data-step="1"]').waitFor();
    });
    console.log(`lesson on a slow line: text after ${lesson.text} ms, first step after ${lesson.usable} ms`);
    site.close();
  },
  async frames() {
    const third = await host((name, text) => {
      if (!name.includes("lease-expiration")) return text;
      const lesson = JSON.parse(text);
      lesson.scenario.clients["client-c"] = { ...lesson.scenario.clients["client-b"], start: "2s" };
      return JSON.stringify(lesson);
    });
    for (const speed of ["1×", "4×"]) {
      const { lanes, times } = await frames(`${third.url}#/lesson/lease-expiration`, speed);
      told(`${lanes} lanes at ${speed}`, times);
    }
    third.close();
  },
  async long() {
    const long = await host((name, text) => {
      if (!name.includes("lease-expiration")) return text;
      const lesson = JSON.parse(text);
      const round = ["acquire", "read balance", "work 10ms", "write balance = balance + 1", "release", "sleep 5ms"];
      for (const id of ["client-a", "client-b"]) {
        lesson.scenario.clients[id].program = ["repeat 450", ...round, "end"];
      }
      Object.assign(lesson.scenario, { until: "2000s", invariant: null });
      lesson.variants = [{ ...lesson.variants[0], edits: [] }];
      Object.assign(lesson, { beats: [], predictions: [], tasks: [] });
      return JSON.stringify(lesson);
    });
    const eleven = await opened(`${long.url}#/lesson/lease-expiration`);
    const { tab } = eleven;
    await tab.locator("#lesson").focus();
    await tab.keyboard.press("End");
    await tab.waitForTimeout(500);
    const steps = await tab.locator(".readout span").first().innerText();
    console.log(`a long run (${steps.toLowerCase()}): open after ${eleven.shown} ms, ${await nodes(tab)} DOM nodes at its end`);
    await many(eleven, "scrubbing it", 300, SCRUB);
    await many(eleven, "stepping back", 40, STEP_BACK);
    await many(eleven, "selecting an event", 40, SELECT);

    await tab.getByRole("button", { name: "Export" }).click();
    for (const name of ["Download picture (SVG)", "Copy as Mermaid", "Download report (Markdown)", "Download run (JSON)"]) {
      const [time, size] = await tab.getByRole("button", { name }).evaluate(async (button) => {
        let size = 0;
        const saved = URL.createObjectURL.bind(URL);
        URL.createObjectURL = (blob) => { size = blob.size; return saved(blob); };
        Object.assign(navigator.clipboard, { writeText: async (text) => { size = text.length; } });
        const start = performance.now();
        button.click();
        const time = performance.now() - start;
        await new Promise((resolve) => { setTimeout(resolve, 100); });
        return [time, size];
      });
      console.log(`${name}: ${time.toFixed(0)} ms for ${(size / 1e6).toFixed(1)} MB`);
    }
    long.close();
  },
  async crowd() {
    const crowd = await host();
    const fifty = await opened(`${crowd.url}#/lesson/herd?run=fifty`);
    console.log(`fifty clients on five servers: open after ${fifty.shown} ms`);
    let most = 0;
    await many(fifty, "scrubbing them", 300, SCRUB);
    for (let i = 0; i < 60; i++) {
      await fifty.tab.evaluate(`(async (i) => { ${SCRUB} })(${i * 5})`);
      await fifty.tab.waitForTimeout(600);
      most = Math.max(most, await nodes(fifty.tab));
    }
    console.log(`at most ${most} DOM nodes at sixty places of it, at rest`);
    await many(fifty, "stepping back", 40, STEP_BACK);
    const crowded = await frames(`${crowd.url}#/lesson/herd?run=fifty`, "1×", 20_000);
    told("playing them at 1×", crowded.times);
    crowd.close();
  },
};
const wanted = process.argv.slice(2);
for (const [name, measure] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await measure();
}
await browser.close();
process.exit();
