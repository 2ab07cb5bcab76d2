// A run of ten thousand events can be opened, scrubbed, stepped back through, selected in, seen in every view and taken
// along, and the page stays as small as it is for a short one. How fast that is, `measure.mjs` says.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { inSight } from "./deeds.mjs";
import { DIST, SUB_PATH, page, passes, running, serveDist, shot } from "./lib.mjs";

/** How many elements the page has at most, whatever the run. */
const MOST = 3000;

const at = (tab) => tab.locator(".stage").getAttribute("data-step").then(Number);
const hash = (tab) => tab.locator(".stage").getAttribute("data-run-hash");
const slider = (tab) => tab.getByRole("slider", { name: "Position in the run" });
const button = (tab, name) => tab.getByRole("button", { name, exact: true });

/** Two clients that take turns 450 times each. */
async function longLesson() {
  const lesson = JSON.parse(await readFile(join(DIST, "lessons/lease-expiration.json"), "utf8"));
  const round = ["acquire", "read balance", "work 10ms", "write balance = balance + 1", "release", "sleep 5ms"];
  for (const id of ["client-a", "client-b"]) lesson.scenario.clients[id].program = ["repeat 450", ...round, "end"];
  Object.assign(lesson.scenario, { until: "2000s", invariant: null });
  lesson.variants = [{ ...lesson.variants[0], edits: [], expect: [] }];
  return JSON.stringify(Object.assign(lesson, { beats: [], predictions: [], tasks: [] }));
}

async function small(tab, where) {
  const count = await tab.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(count <= MOST, `${count} elements ${where}`);
  return count;
}

async function saved(tab, name) {
  const download = tab.waitForEvent("download");
  await button(tab.getByRole("dialog"), name).click();
  return readFile(await (await download).path(), "utf8");
}

const VIEWPORTS = [{ width: 1280, height: 800 }, { width: 390, height: 844 }];
for (const viewport of VIEWPORTS) {
  test(`ten thousand events are opened, scrubbed, stepped, selected and exported (${viewport.width} px)`, { timeout: 240_000 }, page(async ({ open, t }) => {
    const text = await longLesson();
    const server = await serveDist({
      intercept(request, response) {
        if (!request.url.startsWith(`${SUB_PATH}lessons/lease-expiration.json`)) return false;
        response.writeHead(200, { "Content-Type": "application/json" }).end(text);
        return true;
      },
    });
    try {
      const tab = await open("#/lesson/lease-expiration", { url: server.url, viewport });
      await tab.locator(".stage[data-run-hash]").waitFor({ timeout: 60_000 });
      const [run, counts] = [await hash(tab), [await small(tab, "at the start")]];

      // To the end, back a step, a decision, and to the start.
      await tab.locator("#lesson").focus();
      await tab.keyboard.press("End");
      await tab.waitForFunction(() => Number(document.querySelector(".stage").dataset.step) > 1000);
      counts.push(await small(tab, "at the end"));
      // The end of a run comes a little after its last event.
      await tab.keyboard.press("ArrowLeft");
      await passes(tab, 100);
      const last = await at(tab);
      for (let back = 1; back <= 3; back += 1) {
        await tab.keyboard.press("ArrowLeft");
        await tab.waitForFunction((wanted) => Number(document.querySelector(".stage").dataset.step) === wanted, last - back);
      }
      await tab.keyboard.press("Shift+ArrowLeft");
      assert.ok((await at(tab)) < last - 3);

      // Scrubbing, forth and back: the same place is the same step.
      const seen = new Map();
      const most = Number(await slider(tab).getAttribute("max"));
      for (const share of [0.5, 0.1, 0.9, 0.3, 0.5, 0.9, 0.1]) {
        await slider(tab).fill(String(Math.floor(most * share)));
        await passes(tab, 120);
        const step = await at(tab);
        assert.equal(seen.get(share) ?? step, step, `${share} of the run is one step`);
        seen.set(share, step);
        counts.push(await small(tab, `at ${share}`));
      }
      assert.ok(seen.get(0.1) < seen.get(0.5) && seen.get(0.5) < seen.get(0.9));

      // Something is selected in the picture, and asked why.
      await tab.mouse.click(...(await inSight(tab)));
      const chosen = tab.getByRole("region", { name: "Selected" });
      await chosen.waitFor();
      await button(chosen, "Why?").click();
      await tab.locator("#why ol button").first().waitFor();
      counts.push(await small(tab, "with an answer"));
      await button(chosen, "Clear").click();

      // The other pictures.
      await button(tab, "Topology").click();
      await tab.getByRole("img", { name: /^Topology/ }).waitFor();
      counts.push(await small(tab, "in the topology"));
      await button(tab, "Topology").click();
      await tab.locator("#lesson").focus();
      await tab.keyboard.press("s");
      await tab.getByRole("img", { name: /^What .+ has seen/ }).waitFor();
      counts.push(await small(tab, "through one node's eyes"));
      await tab.keyboard.press("s");

      // A fault in the middle, and undo.
      await button(tab, "Break it").click();
      await button(tab.getByRole("dialog"), "Pause now").click();
      await tab.waitForFunction((old) => document.querySelector(".stage").getAttribute("data-run-hash") !== old, run);
      counts.push(await small(tab, "after a fault"));
      await tab.keyboard.press("Control+z");
      await tab.waitForFunction((old) => document.querySelector(".stage").getAttribute("data-run-hash") === old, run);

      await button(tab, "Export").click();
      const json = JSON.parse(await saved(tab, "Download run (JSON)"));
      assert.ok(json.events.length >= 10_000, `${json.events.length} events`);
      assert.equal(json.hash, run);
      assert.match(await saved(tab, "Download picture (SVG)"), /^<svg[^]*<\/svg>\s*$/);
      assert.match(await saved(tab, "Download report (Markdown)"), /^# /);
      await tab.keyboard.press("Escape");
      await tab.getByRole("dialog").waitFor({ state: "detached" });

      // The address leads back to the very step.
      await passes(tab, 400);
      const step = await at(tab);
      await tab.reload();
      await running(tab);
      await tab.waitForFunction((wanted) => Number(document.querySelector(".stage")?.dataset.step) === wanted, step);
      assert.equal(await hash(tab), run);
      await shot(tab, `long-${viewport.width}`);
      t.diagnostic(`${json.events.length} events; at most ${Math.max(...counts)} elements`);
    } finally {
      await server.close();
    }
  }));
}

for (const viewport of VIEWPORTS) {
  test(`fifty clients on five servers are shown within the same bounds (${viewport.width} px)`, page(async ({ open, t }) => {
    const tab = await open("#/lesson/herd?run=fifty", { viewport });
    await tab.locator(".stage[data-run-hash]").waitFor();
    const counts = [await small(tab, "at the start")];
    const most = Number(await slider(tab).getAttribute("max"));
    for (let place = 1; place <= 12; place += 1) {
      await slider(tab).fill(String(Math.floor((most * place) / 12)));
      // The log is whole again when the hand rests.
      await passes(tab, 600);
      counts.push(await small(tab, `at ${place} of 12`));
    }
    await slider(tab).fill(String(Math.floor(most / 2)));
    await button(tab, "Topology").click();
    await tab.getByRole("img", { name: /^Topology/ }).waitFor();
    counts.push(await small(tab, "in the topology"));
    t.diagnostic(`at most ${Math.max(...counts)} elements`);
  }));
}
