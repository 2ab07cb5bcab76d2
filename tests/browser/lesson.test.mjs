// The lesson loop in the browser: levels of guidance, predictions with a look, evidence, tokens by hand, five ways.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { focusIs, page, passes, shot } from "./lib.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const BREAK = "#/lesson/break-it";
const RACE = "#/lesson/lease-expiration";
const FENCE = "#/lesson/fencing-tokens";

const button = (tab, name) => tab.getByRole("button", { name, exact: true });
const verdict = (tab) => tab.locator("#verdict");
const words = (tab) => tab.locator(".words");

async function lesson(open, hash, options) {
  const tab = await open(hash, options);
  await tab.locator(".stage").waitFor();
  return tab;
}

/** Fails on anything that axe-core finds in the words; whole pages are the business of another file. */
async function accessibleWords(tab) {
  await tab.evaluate(await readFile(AXE, "utf8"));
  const found = await tab.evaluate(async () => {
    const rules = { "target-size": { enabled: true }, "label-content-name-mismatch": { enabled: true } };
    const { violations } = await globalThis.axe.run(".words", { rules });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" | ")}`);
  });
  assert.deepEqual(found, []);
  assert.equal(await tab.locator("h1:visible").count(), 1);
}

/** Plays to the next stop. */
async function play(tab) {
  await button(tab, "Play").click();
  await button(tab, "Play").waitFor();
}

/** Turns the pages of the story to the one with this title. */
async function turnTo(tab, title) {
  for (let turns = 0; turns < 20; turns++) {
    if (await tab.getByRole("heading", { name: title }).count()) break;
    await tab.getByRole("button", { name: /^(Begin|Next)$/ }).click();
  }
  const other = button(tab, "Switch to that run");
  if (await other.count()) await other.click();
  await tab.getByRole("heading", { name: title }).waitFor();
}

test("the first press of Play runs through to the corruption, in two clicks and far under a minute", page(async ({ open }) => {
  const tab = await open();
  const start = Date.now();
  await tab.getByRole("link", { name: /Break it/ }).first().click();
  await play(tab);
  await verdict(tab).getByText("Corrupted.").waitFor();
  await tab.getByRole("heading", { name: "The late write is accepted" }).waitFor();
  const seconds = (Date.now() - start) / 1000;
  assert.ok(seconds < 25, `it took ${seconds} s`);
}));

test("a challenge is one click away, is decided by the run, and survives a reload", page(async ({ open }) => {
  const tab = await lesson(open, RACE);
  await button(tab, "Challenge").click();
  await tab.locator(".goal", { hasText: "Corrupt the balance and pause nobody." }).waitFor();
  await words(tab).getByText("Not reached yet. The run on screen decides.").waitFor();
  await accessibleWords(tab);
  await shot(tab, "lesson-challenge");

  await tab.locator("#edit").fill("delay client-a>resource#2 by 12s");
  await button(tab, "Add").click();
  await tab.locator("#stage").focus();
  await tab.keyboard.press("End");
  await words(tab).getByText("Reached: this run does it.").waitFor();
  await tab.locator("#said").getByText(/Goal reached/).waitFor({ state: "attached" });

  await passes(tab, 200);
  await tab.reload();
  await tab.locator(".goal", { hasText: "Corrupt the balance and pause nobody." }).waitFor();
  await words(tab).getByText("Reached: this run does it.").waitFor();
  await tab.waitForURL(/level=challenge/);

  await button(tab, "Show me").click();
  await tab.getByRole("heading", { name: "The lease-expiration race, slowly" }).waitFor();
}));

test("help ticks each step as the run does it, and a solution is one undo from the own run", page(async ({ open }) => {
  const tab = await lesson(open, BREAK);
  await button(tab, "Help me").click();
  const steps = tab.locator(".steps > li");
  const signs = () => steps.evaluateAll((all) => all.map((li) => li.querySelector(".sign").innerText.trim()));
  assert.deepEqual(await signs(), ["Done for you:", "To do:", "To do:", "To do:"]);
  await steps.nth(1).getByText("A hint").click();
  await steps.nth(1).getByText("The lease lasts 5 s").waitFor();

  await button(tab, "Show a solution").click();
  await focusIs(tab, "task-title");
  assert.deepEqual(await signs(), ["Done for you:", "To do:", "To do:", "To do:"], "nothing has been seen yet");
  await tab.locator("#stage").focus();
  await tab.keyboard.press("End");
  await words(tab).getByText("Reached: this run does it.").waitFor();
  assert.deepEqual(await signs(), ["Done for you:", "Done:", "Done:", "Done:"]);
  await shot(tab, "lesson-help");
  await accessibleWords(tab);

  await button(tab, "Undo").click();
  await words(tab).getByText("Reached before; not in this run.").waitFor();
  assert.equal(await tab.locator(".edits li").count(), 0);
}));

test("a prediction takes a why, asks for a look, and says without judging what the run did", page(async ({ open }) => {
  const tab = await lesson(open, RACE);
  await tab.getByRole("combobox", { name: "Speed" }).selectOption({ label: "4×" });
  const question = tab.getByText("A wakes up and sends its write with token 41.");
  for (let stops = 0; stops < 20 && !(await question.count()); stops++) await play(tab);
  await tab.getByLabel("It rejects the write: 41 is lower than 42").check();
  await tab.getByLabel("Why? One line, for yourself.").fill("41 is older");
  await button(tab, "Commit").click();
  await focusIs(tab, "stage");

  const look = tab.getByRole("heading", { name: "What happened at the resource?" });
  for (let stops = 0; stops < 3 && !(await look.count()); stops++) await play(tab);
  // Nothing explains it yet: neither the story nor the verdict.
  assert.equal(await tab.getByRole("heading", { name: "The resource accepts" }).count(), 0);
  assert.doesNotMatch(await verdict(tab).innerText(), /Corrupted/);
  await accessibleWords(tab);
  await shot(tab, "lesson-look");

  await button(tab, "It accepted the late write").click();
  await focusIs(tab, "predict-title");
  const card = tab.locator("#predict");
  await card.getByText("You said: It rejects the write: 41 is lower than 42, 70 % sure.").waitFor();
  await card.getByText("Your why: “41 is older”").waitFor();
  await card.getByText("You said: accepted. So it was.").waitFor();
  await card.getByText("The step that decides it:").waitFor();
  await verdict(tab).getByText("Corrupted.").waitFor();
  assert.doesNotMatch(await words(tab).innerText(), /incorrect|wrong/i);
  await card.getByRole("button", { name: "13.25 s" }).click();
  await tab.getByRole("heading", { name: "The resource accepts" }).waitFor();
}));

test("evidence opens from its badge by pointer and by keyboard, and closes again", page(async ({ open }) => {
  const tab = await lesson(open, RACE);
  await turnTo(tab, "A stops");
  const badge = tab.getByRole("button", { name: "document: where this comes from" });
  const box = await badge.boundingBox();
  assert.ok(box.width >= 24 && box.height >= 24, `${box.width} by ${box.height}`);
  const evidence = tab.locator(".evidence").first();
  assert.equal(await evidence.isVisible(), false);
  await badge.click();
  await evidence.getByText("Distributed Locks and Fencing Tokens").waitFor();
  await accessibleWords(tab);
  await shot(tab, "lesson-evidence");
  await tab.keyboard.press("Escape");
  assert.equal(await evidence.isVisible(), false);
  await badge.focus();
  await tab.keyboard.press("Enter");
  assert.equal(await evidence.isVisible(), true);
}));

test("the rules of the lock service are listed with where they come from", page(async ({ open }) => {
  const tab = await lesson(open, FENCE);
  await tab.getByText("How it behaves, and how we know").click();
  const rules = tab.locator(".rules li");
  assert.ok((await rules.count()) >= 12);
  for (const text of await rules.allInnerTexts()) assert.match(text, /^(recorded|source|document|inference|disputed)\s*: see the evidence/);
  await accessibleWords(tab);
}));

test("five ways to be late are five buttons, and the words stay", page(async ({ open }) => {
  const tab = await lesson(open, RACE);
  await turnTo(tab, "Five ways to be late");
  const run = () => tab.locator(".stage").getAttribute("data-run-hash");
  const seen = new Set();
  for (const name of ["Long pause", "Starvation", "Freeze", "Delay", "Partition"]) {
    await button(tab, name).click();
    await tab.getByRole("button", { name, exact: true, pressed: true }).waitFor();
    await tab.getByRole("heading", { name: "Five ways to be late" }).waitFor();
    await focusIs(tab, "BUTTON");
    seen.add(await run());
  }
  assert.equal(seen.size, 5);
  await shot(tab, "lesson-five-ways");
}));

test("tokens are sent by hand, and the resource lets pass what is not lower", page(async ({ open }) => {
  const tab = await lesson(open, FENCE);
  await button(tab, "send some tokens by hand").click();
  const token = tab.getByLabel("Send a token by hand");
  for (const number of ["41", "43", "42"]) {
    await token.fill(number);
    await token.press("Enter");
  }
  const log = tab.locator(".entries");
  await log.getByText("Resource rejects token 42, sent by hand: it is lower than 43.").waitFor();
  await words(tab).getByText("Reached: this run does it.").waitFor();
  assert.equal(await token.inputValue(), "42");
  await shot(tab, "lesson-by-hand");
  await accessibleWords(tab);
  await button(tab, "Undo").click();
  await words(tab).getByText("Reached before; not in this run.").waitFor();
}));

test("watching to the end leaves something to do, and says what", page(async ({ open }) => {
  const tab = await lesson(open, BREAK);
  await tab.locator("#stage").focus();
  await tab.keyboard.press("End");
  const closing = tab.locator("#closing");
  await closing.getByText("Still to do by yourself").waitFor();
  await closing.getByText("0 of 2 predictions made").waitFor();
  await closing.getByRole("button", { name: "Challenge" }).click();
  await focusIs(tab, "task-title");
}));
