// A learner's hands on the run: edges of pauses that are dragged, numbers that are typed, the millisecond that decides.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { accessible, focusIs, page, passes, shot } from "./lib.mjs";

const ROOT = new URL("../../", import.meta.url);
const FILE = "lessons/05-lease-expiration.md";
const PAUSE = "pause client-a before write#1 for 12s";
const LESSON = "#/lesson/lease-expiration";
const SEEN = `${LESSON}?event=81`;

const hash = (tab) => tab.locator(".stage").getAttribute("data-run-hash");
const edits = (tab) => tab.locator(".edits li code").allInnerTexts();
const verdict = (tab) => tab.locator("#verdict").innerText();
const end = (tab) => tab.locator(".grip-end").first();
const start = (tab) => tab.locator(".grip:not(.grip-end)").first();
const length = (tab) => tab.getByRole("textbox", { name: "Length of the pause of Client A, seconds" }).first();

async function open(opener, where = SEEN, options) {
  const tab = await opener(where, options);
  await tab.locator(".stage").waitFor();
  await tab.waitForFunction(() => document.querySelector(".stage").getAttribute("data-run-hash"));
  return tab;
}

async function middle(locator) {
  const box = await locator.boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** What the command line says of a run with this edit in place of the lesson's. */
function native(edit) {
  const binary = process.env.LOCKSCOPE_BIN;
  const [program, before] = binary ? [binary, []] : ["cargo", ["run", "--quiet", "--bin", "lockscope", "--"]];
  // Edits are added to a variant's own, so the lesson is given without its pause.
  const lesson = readFileSync(new URL(FILE, ROOT), "utf8").replace(`edits = ["${PAUSE}"]`, "edits = []");
  const options = [...before, "run", "-", "--edit", edit, "--format", "json"];
  return JSON.parse(execFileSync(program, options, { cwd: ROOT, input: lesson, encoding: "utf8", maxBuffer: 1e8 }));
}

/** Times of frames from now on: from the call of the frame's work to the end of the rendering that follows from it. */
async function timed(tab) {
  await tab.evaluate(() => {
    const request = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.frameTimes = [];
    globalThis.requestAnimationFrame = (work) => {
      let began = 0;
      const id = request((now) => {
        began = performance.now();
        work(now);
      });
      // Of the same frame, after everything that the first one left to be done at once.
      request(() => globalThis.frameTimes.push(performance.now() - began));
      return id;
    };
  });
}

test("a pause is shortened with the mouse: the run changes on the way, and all of it is one undo", page(async ({ open: opener, t }) => {
  const tab = await open(opener);
  const before = [await hash(tab), await edits(tab)];
  const [x, y] = await middle(end(tab));
  await timed(tab);
  await tab.mouse.move(x, y);
  await tab.mouse.down();
  const seen = new Set();
  for (let up = 2; up <= 220; up += 2) {
    await tab.mouse.move(x, y - up);
    await tab.evaluate(() => new Promise(requestAnimationFrame));
    if (up % 20) continue;
    seen.add((await verdict(tab)).split(".")[0]);
    const [, now] = await middle(end(tab));
    assert.ok(Math.abs(now - (y - up)) <= 6, `the edge is at ${now}, the pointer at ${y - up}`);
    assert.match(await tab.locator(".grip-says").innerText(), /^paused [\d.]+ m?s$/);
  }
  await shot(tab, "hands-drag");
  const times = (await tab.evaluate(() => globalThis.frameTimes)).filter((time) => time > 0.1).sort((a, b) => a - b);
  const at = (share) => times[Math.floor((times.length - 1) * share)].toFixed(1);
  t.diagnostic(`${times.length} frames of dragging: median ${at(0.5)} ms, 95 of 100 within ${at(0.95)} ms`);
  assert.ok(seen.has("Corrupted") && seen.has("Harmless"), [...seen].join(", "));

  await tab.mouse.up();
  await tab.locator(".grip-says").waitFor({ state: "detached" });
  assert.match((await edits(tab))[0], /^pause client-a before write#1 for \d+0ms$/);
  const after = [await hash(tab), await edits(tab)];
  assert.equal(await tab.locator(".grip-field").count(), 0, "a drag is no click");
  await tab.keyboard.press("Control+z");
  assert.deepEqual([await hash(tab), await edits(tab)], before);
  await tab.keyboard.press("Control+Shift+z");
  assert.deepEqual([await hash(tab), await edits(tab)], after);
}));

test("Escape takes a drag back, and with Shift a hand is exact to the millisecond", page(async ({ open: opener }) => {
  const tab = await open(opener);
  await passes(tab, 200);
  const before = [await hash(tab), await edits(tab), tab.url()];
  const [x, y] = await middle(end(tab));
  await tab.mouse.move(x, y);
  await tab.mouse.down();
  await tab.keyboard.down("Shift");
  const exact = [];
  for (let up = 5; up < 60; up += 3) {
    await tab.mouse.move(x, y - up);
    await tab.evaluate(() => new Promise(requestAnimationFrame));
    exact.push((await edits(tab))[0]);
  }
  await tab.keyboard.up("Shift");
  assert.ok(exact.some((edit) => /[1-9]ms$/.test(edit)), exact.join(", "));
  await tab.keyboard.press("Escape");
  await tab.locator(".grip-says").waitFor({ state: "detached" });
  await tab.mouse.move(x, y - 200);
  await tab.mouse.up();
  await passes(tab, 200);
  assert.deepEqual([await hash(tab), await edits(tab), tab.url()], before);
}));

test("the start of a pause is dragged: it moves as a whole", page(async ({ open: opener }) => {
  const tab = await open(opener);
  await tab.locator("#stage").evaluate((box) => box.scrollTo(0, 0));
  const [x, y] = await middle(start(tab));
  await tab.mouse.move(x, y);
  await tab.mouse.down();
  await tab.mouse.move(x, y - 10);
  await tab.mouse.move(x, y - 24);
  await tab.locator(".grip-says").waitFor();
  assert.match(await tab.locator(".grip-says").innerText(), /^from \d/);
  await tab.mouse.up();
  assert.match((await edits(tab))[0], /^at \S+ pause client-a for 12s$/);
}));

test("a finger drags an edge, and the page beside it still scrolls", page(async ({ open: opener }) => {
  const tab = await open(opener, SEEN, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await end(tab).scrollIntoViewIfNeeded();
  const box = await end(tab).boundingBox();
  assert.ok(box.width >= 44 && box.height >= 44, "the target is large enough for a finger");
  assert.equal(await end(tab).evaluate((grip) => getComputedStyle(grip).touchAction), "none");
  assert.notEqual(await tab.locator("#stage").evaluate((stage) => getComputedStyle(stage).touchAction), "none");
  const before = await edits(tab);
  const [x, y] = await middle(end(tab));
  const client = await tab.context().newCDPSession(tab);
  const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points });
  const scrolled = await tab.evaluate(() => scrollY);
  await touch("touchStart", [{ x, y }]);
  for (let up = 4; up <= 80; up += 4) await touch("touchMove", [{ x, y: y - up }]);
  await tab.locator(".grip-says").waitFor();
  await shot(tab, "hands-touch");
  await touch("touchEnd", []);
  await tab.locator(".grip-says").waitFor({ state: "detached" });
  assert.notDeepEqual(await edits(tab), before);
  assert.equal(await tab.evaluate(() => scrollY), scrolled, "the page stayed where it was");
}));

test("keys on an edge: a tenth of a second, a second, a millisecond; Enter opens its field", page(async ({ open: opener }) => {
  const tab = await open(opener);
  await end(tab).focus();
  for (const key of ["ArrowDown", "Shift+ArrowDown", "Alt+ArrowUp"]) await tab.keyboard.press(key);
  await passes(tab, 200);
  assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 13099ms"]);
  await focusIs(tab, /^grip-/);
  assert.match(await tab.locator("#said").innerText(), /^Length of the pause of Client A: 13\.099 s\. Corrupted\.$/);
  await tab.keyboard.press("Control+z");
  await passes(tab, 200);
  assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 12s"], "the steps are one undo");

  await end(tab).focus();
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.activeElement?.id === "grip-field");
  await accessible(tab);
  await shot(tab, "hands-field");
  await tab.keyboard.type("15");
  await tab.keyboard.press("Enter");
  await tab.locator(".grip-field").waitFor({ state: "detached" });
  assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 15s"]);
  await focusIs(tab, /^grip-/);
}));

test("by keyboard alone the pause becomes 20 s in three keys and two digits", page(async ({ open: opener }) => {
  const tab = await open(opener, LESSON);
  for (const key of ["e", "2", "0", "Enter"]) await tab.keyboard.press(key);
  await passes(tab, 200);
  assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 20s"]);
  await focusIs(tab, /^number-0-Length$/);
  assert.equal(await tab.locator(".stage").getAttribute("data-step"), "0", "the learner is still at the start");
  await tab.locator("#stage").focus();
  await tab.keyboard.press("End");
  await tab.locator(".stage text").filter({ hasText: "paused 20 s" }).waitFor();
}));

test("a number that cannot be read stays, and what is expected is said", page(async ({ open: opener }) => {
  const tab = await open(opener);
  for (const text of ["twelve", "-1", "601"]) {
    await length(tab).fill(text);
    await length(tab).press("Enter");
    await tab.getByRole("alert").filter({ hasText: "A length is a number of seconds from 0.001 to 600" }).waitFor();
    assert.equal(await length(tab).inputValue(), text);
    assert.equal(await length(tab).getAttribute("aria-invalid"), "true");
  }
  await accessible(tab);
  await length(tab).fill("9,25");
  await length(tab).press("Enter");
  assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 9250ms"]);
  await tab.getByRole("button", { name: "Length of the pause of Client A: 0.1 s more" }).click();
  assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 9350ms"]);
  await tab.getByRole("textbox", { name: "Start of the pause of Client A, seconds" }).fill("1");
  await tab.keyboard.press("Enter");
  assert.deepEqual(await edits(tab), ["at 1s pause client-a for 9350ms"]);
}));

test("the millisecond is found in a moment, with both runs, and it is the command line's", page(async ({ open: opener, t }) => {
  const tab = await open(opener, LESSON);
  const find = tab.getByRole("button", { name: "Find the millisecond" }).first();
  const box = await find.boundingBox();
  t.diagnostic(`the button ends at ${Math.round(box.y + box.height)} px`);
  const took = await find.evaluate(async (button) => {
    const began = performance.now();
    button.click();
    while (!document.querySelector(".edge-picture svg")) await new Promise(requestAnimationFrame);
    return performance.now() - began;
  });
  t.diagnostic(`found and drawn in ${took.toFixed(0)} ms`);
  const dialog = tab.getByRole("dialog");
  await dialog.getByText("One millisecond more, and Client A's write balance = 90 (token 41) arrives after Client B's read of balance instead of before it.").waitFor();
  const lengths = await dialog.locator(".edge-side").evaluateAll((sides) => sides.map((side) => side.dataset.length));
  const [safe, harmful] = lengths.map((text) => Number(text.replace(/\D/g, "")));
  assert.equal(harmful, safe + 1);
  const harm = (ms) => native(`pause client-a before write#1 for ${ms}ms`).verdict.corruption;
  assert.deepEqual([harm(safe), harm(harmful)], [0, 1]);
  // It leaves with the pause, 1.2 s after the start, travels for 50 ms, and B's read arrives at 10.45 s.
  assert.ok(Math.abs(harmful - (10_450 - 1_200 - 50)) <= 1);
  assert.deepEqual(await dialog.locator("h3").allInnerTexts(), [`${lengths[0]}: Harmless.`, `${lengths[1]}: Corrupted.`]);
  await dialog.getByText(/At 9.101 ms already/).waitFor();
  assert.equal(await dialog.locator(".edge-picture svg.still").count(), 2);
  await accessible(tab);
  await shot(tab, "hands-edge");

  await dialog.getByRole("button", { name: /^Open the run with 9.201 ms/ }).click();
  await dialog.waitFor({ state: "detached" });
  assert.match(await verdict(tab), /^Corrupted\./);
  assert.deepEqual(await edits(tab), [`pause client-a before write#1 for ${harmful}ms`]);
  assert.equal(await hash(tab), native(`pause client-a before write#1 for ${harmful}ms`).hash);
  const other = await open(opener, tab.url().slice(tab.url().indexOf("#")));
  assert.equal(await hash(other), await hash(tab), "the address brings the same run");
}));

test("behind the check too, harm is found where it is, stacked on a phone", page(async ({ open: opener }) => {
  const tab = await open(opener, `${LESSON}?run=fixed`, { viewport: { width: 390, height: 844 } });
  await tab.getByRole("button", { name: "Find the millisecond" }).first().click();
  const dialog = tab.getByRole("dialog");
  await dialog.getByText(/^9.201 ms: Corrupted\.$/).waitFor();
  const sides = await dialog.locator(".edge-side").evaluateAll((all) => all.map((side) => side.getBoundingClientRect()).map((box) => [box.x, box.y]));
  assert.ok(sides[0][0] === sides[1][0] && sides[0][1] < sides[1][1], "stacked on a phone");
  await shot(tab, "hands-edge-phone");
  await tab.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}));

test("the play head is dragged by its plate", page(async ({ open: opener }) => {
  const tab = await open(opener);
  const [x, y] = await middle(tab.locator(".now-grip"));
  const before = await tab.locator(".stage").getAttribute("data-step");
  await tab.mouse.move(x, y);
  await tab.mouse.down();
  await tab.mouse.move(x, y - 10);
  await tab.mouse.move(x, y - 150);
  await tab.waitForFunction((old) => Number(document.querySelector(".stage").dataset.step) < Number(old), before);
  const [, now] = await middle(tab.locator(".now-grip"));
  assert.ok(Math.abs(now - (y - 150)) <= 2);
  await tab.mouse.up();
}));

test("the menu offers what the lesson needs, also for a single message", page(async ({ open: opener }) => {
  const tab = await open(opener, `${LESSON}?event=15`);
  await tab.getByRole("button", { name: "Break it", exact: true }).click();
  const dialog = tab.getByRole("dialog");
  assert.equal(await dialog.getByRole("button", { name: "Lose the next message" }).count(), 0, "this lesson loses none");
  await dialog.getByText("This lesson offers: a pause, a cut, a death, a message delayed.").waitFor();
  await dialog.getByRole("button", { name: "More faults" }).press("Enter");
  for (const name of ["Lose the next message", "Let a copy of the next message arrive too", "Set forward", "Freeze its machine"]) {
    assert.equal(await dialog.getByRole("button", { name }).count(), 1, name);
  }
  await dialog.getByRole("combobox", { name: "The way to" }).selectOption({ label: "Resource" });
  await accessible(tab);
  await shot(tab, "hands-break");
  await dialog.getByRole("button", { name: "Delay the next message" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.match((await edits(tab)).at(-1), /^delay client-a>resource#2 by 12s$/);
  await tab.locator("#stage").focus();
  await tab.keyboard.press("i");
  await dialog.getByRole("combobox", { name: "The way to" }).selectOption({ label: "two sides…" });
  await dialog.getByRole("checkbox", { name: "Resource" }).check();
  await accessible(tab);
  await shot(tab, "hands-sides");
  await dialog.getByRole("button", { name: "Cut", exact: true }).click();
  assert.match((await edits(tab)).at(-1), /cut \{resource client-a\}\|\{client-b lock-service\} for 12s$/);
  // What cannot be done says why: all are on one side, and who is paused is not paused again.
  await tab.keyboard.press("i");
  await dialog.getByRole("combobox", { name: "The way to" }).selectOption({ label: "two sides…" });
  for (const box of await dialog.getByRole("checkbox").all()) await box.check();
  const nobody = dialog.getByRole("button", { name: "Cut Nobody is left on the other side." });
  assert.equal(await nobody.getAttribute("aria-disabled"), "true");
  await tab.keyboard.press("Escape");
  const paused = await open(opener, `${LESSON}?event=40`);
  await paused.locator("#stage").focus();
  await paused.keyboard.press("i");
  await paused.getByRole("button", { name: /^Pause now It is stopped already, until 13\.20 s\./ }).waitFor();
}));

test("nothing moves by itself once the hand is gone", page(async ({ open: opener }) => {
  const tab = await open(opener);
  await tab.evaluate(() => {
    const request = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.asked = 0;
    globalThis.requestAnimationFrame = (work) => {
      globalThis.asked += 1;
      return request(work);
    };
  });
  const [x, y] = await middle(end(tab));
  await tab.mouse.move(x, y);
  await tab.mouse.down();
  await tab.mouse.move(x, y - 40);
  await tab.waitForFunction(() => globalThis.asked > 0);
  await tab.mouse.up();
  await tab.waitForTimeout(200);
  const [asked, drawn] = [await tab.evaluate(() => globalThis.asked), await tab.locator(".picture").innerHTML()];
  await tab.waitForTimeout(800);
  assert.equal(await tab.evaluate(() => globalThis.asked), asked);
  assert.equal(await tab.locator(".picture").innerHTML(), drawn);
}));
