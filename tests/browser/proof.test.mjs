// Every pause is tried on the page: what it counts is what the command line counts, and each harm can be opened.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { accessible, focusIs, page, shot, unfold } from "./lib.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const LESSON = "#/lesson/lease-expiration";
const FILE = "lessons/05-lease-expiration.md";

const button = (tab) => tab.locator("#prove");
const edits = (tab) => tab.locator(".edits li code").allInnerTexts();
const row = (tab, check) => tab.locator(`.prove [data-check="${check}"]`);

/** What the command line says; it exits with 1 where it finds harm. */
function native() {
  const binary = process.env.LOCKSCOPE_BIN;
  const [program, before] = binary ? [binary, []] : ["cargo", ["run", "--quiet", "--bin", "lockscope", "--"]];
  return new Promise((resolve) => {
    execFile(program, [...before, "search", FILE, "--format", "json"], { cwd: ROOT, maxBuffer: 1e8 }, (_, out) => resolve(JSON.parse(out)));
  });
}

const done = (tab) => tab.waitForFunction(() => document.querySelector("#prove").textContent === "Try again", null, { timeout: 30_000 });

async function lesson(open, options) {
  const tab = await open(LESSON, options);
  await unfold(tab, "pauses");
  return tab;
}

test("nothing is tried by itself, and then all of it, with the counts of the command line", page(async ({ open }) => {
  const tab = await open(LESSON);
  await tab.locator("#pauses > summary").focus();
  await tab.keyboard.press("Enter");
  assert.equal(await button(tab).innerText(), "Try every pause");
  assert.equal(await tab.locator(".prove table").count(), 0);
  // By keys alone.
  await button(tab).focus();
  const began = Date.now();
  await tab.keyboard.press("Enter");
  await done(tab);
  const took = Date.now() - began;
  const told = await tab.locator(".so-far").innerText();
  const [, schedules, runs] = told.match(/All (\d+) schedules are tried, in (\d+) runs/);
  console.log(`${runs} runs in ${took} ms: ${Math.round(runs / took)} k runs/s, drawing included`);

  const found = await native();
  assert.equal(Number(schedules), found.schedules);
  assert.equal(Number(runs), found.runs);
  for (const { check, harmful, kinds } of found.checks) {
    const text = await row(tab, check).innerText();
    assert.ok(text.includes(`${harmful} of ${found.schedules}`), text);
    for (const word of ["corruption", "lost update", "torn section"]) {
      const key = { "lost update": "lost_updates", "torn section": "torn_sections" }[word] ?? word;
      assert.equal(text.includes(`${word}: ${kinds[key]}`), kinds[key] > 0, text);
    }
  }
  for (const bound of found.bounds) assert.ok((await tab.locator(".bounds").innerText()).includes(bound), bound);
  assert.match(await tab.locator(".prove [role=status]").innerText(), /none|nothing/);
  await accessible(tab);
  await button(tab).scrollIntoViewIfNeeded();
  await shot(tab, "proof");
}));

test("a harmful run opens at its harm, and undo brings back what was there", page(async ({ open }) => {
  const tab = await lesson(open);
  const before = await edits(tab);
  await button(tab).click();
  await done(tab);
  // The surprise: the token is checked, and there is harm.
  await row(tab, "token").getByRole("button", { name: /^corruption \d+: open the first/ }).click();
  await tab.locator("#verdict", { hasText: "Corrupted" }).waitFor();
  const opened = await edits(tab);
  assert.equal(opened[0], "set resource.check token");
  assert.match(opened[1], /^pause client-[ab] before \w+#\d+ for \d+m?s$/);
  // What was counted is still there, because it counts this run too.
  assert.equal(await row(tab, "none").count(), 1);
  assert.match(await tab.evaluate(() => location.hash), /[?&]e=/, "the run has an address");
  await tab.keyboard.press("Control+z");
  await tab.waitForFunction((n) => document.querySelectorAll(".edits li").length === n, before.length);
  assert.deepEqual(await edits(tab), before);
}));

test("it stops at once, says how far it came, and counts nothing of another run", page(async ({ open }) => {
  const tab = await lesson(open);
  // A slice lasts some milliseconds: it is stopped in the same task that began it.
  await tab.evaluate(() => {
    const press = () => document.querySelector("#prove").click();
    press();
    const again = new MutationObserver(() => {
      if (document.querySelector("#prove").textContent === "Stop") {
        again.disconnect();
        press();
      }
    });
    again.observe(document.querySelector(".prove"), { childList: true, subtree: true, characterData: true });
  });
  await tab.locator(".so-far", { hasText: /^Stopped after \d+ of \d+/ }).waitFor();
  const words = await tab.locator(".so-far").innerText();
  await tab.waitForTimeout(400);
  assert.equal(await tab.locator(".so-far").innerText(), words, "nothing goes on behind it");
  assert.equal(await button(tab).innerText(), "Try again");
  // What was stopped can go on, and the focus stays beside the button that goes.
  await tab.getByRole("button", { name: "Go on", exact: true }).press("Enter");
  await focusIs(tab, "prove");
  await done(tab);
  assert.match(await tab.locator(".so-far").innerText(), /^All \d+ schedules are tried/);
  assert.equal(await tab.getByRole("button", { name: "Go on", exact: true }).count(), 0);
  // Another edit is another run: the figures go.
  await tab.getByRole("textbox", { name: /edit/i }).last().fill("at 2s cut client-b resource for 1s");
  await tab.keyboard.press("Enter");
  await tab.locator(".prove table").waitFor({ state: "detached" });
  assert.equal(await button(tab).innerText(), "Try every pause");
}));

test("by touch on a phone", page(async ({ open }) => {
  const tab = await lesson(open, { viewport: { width: 390, height: 844 }, hasTouch: true });
  await button(tab).scrollIntoViewIfNeeded();
  await button(tab).tap();
  await done(tab);
  // Another tab and back: it is all still there.
  await tab.getByRole("tab").nth(1).tap();
  await tab.getByRole("tab").nth(0).tap();
  assert.equal(await row(tab, "version").count(), 1);
  await accessible(tab);
  await row(tab, "none").getByRole("button").first().scrollIntoViewIfNeeded();
  await shot(tab, "proof-phone");
  await row(tab, "none").getByRole("button").first().tap();
  await tab.locator("#verdict", { hasText: "Corrupted" }).waitFor();
  // The picture is in sight, and it is said what it shows.
  await focusIs(tab, "stage");
  await tab.waitForFunction(() => document.querySelector("#stage").getBoundingClientRect().top >= 0);
  await tab.locator(".notice", { hasText: "does harm is on screen" }).waitFor();
}));
