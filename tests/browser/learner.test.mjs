// What a learner does: opens a lesson, sees the stale write do harm, lets the resource check the token, breaks things,
// steps, mistypes. All of it on the built files, below a sub-path.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { accessible, page, passes, shot } from "./lib.mjs";

const ROOT = new URL("../../", import.meta.url);
const LESSON = "#/lesson/lease-expiration";

/** The verdict and more of a run, as the command line gives it. */
function native(...options) {
  const file = readdirSync(new URL("lessons/", ROOT)).find((name) => name.startsWith("05-"));
  const binary = process.env.LOCKSCOPE_BIN;
  const [program, before] = binary
    ? [binary, []]
    : ["cargo", ["run", "--quiet", "--bin", "lockscope", "--"]];
  const all = [...before, "run", `lessons/${file}`, "--format", "json", ...options];
  return JSON.parse(execFileSync(program, all, { cwd: ROOT, encoding: "utf8", maxBuffer: 1e8 }));
}

const stage = (tab) => tab.locator(".stage");
const focusStage = (tab) => tab.locator("#stage").focus();
const hash = (tab) => stage(tab).getAttribute("data-run-hash");
const step = async (tab) => Number(await stage(tab).getAttribute("data-step"));
const verdict = (tab) => tab.locator("#verdict");
const log = (tab) => tab.locator(".entries");
const tokenCheck = (tab) => tab.getByRole("switch", { name: /checks the token/ });
const button = (tab, name) => tab.getByRole("button", { name, exact: true });
const focused = (tab) => tab.evaluate(() => document.activeElement?.outerHTML.slice(0, 200));

async function lesson(open, options) {
  const tab = await open(LESSON, options);
  await stage(tab).waitFor();
  return tab;
}

async function press(tab, ...keys) {
  await focusStage(tab);
  for (const key of keys) await tab.keyboard.press(key);
}

test("a learner finds the lesson, sees the stale write do harm, and lets the resource reject it", page(async ({ open }) => {
  const tab = await open();
  await shot(tab, "home");
  await tab.getByRole("link", { name: /lease-expiration race/ }).first().click();
  await stage(tab).waitFor();
  assert.equal(await step(tab), 0);
  const base = await hash(tab);

  await press(tab, "End");
  await verdict(tab).getByText("Corrupted.").waitFor();
  assert.match(await verdict(tab).innerText(), /token 41/);
  assert.match(await log(tab).innerText(), /41/);
  await shot(tab, "lesson-corrupted");

  await tokenCheck(tab).click();
  await verdict(tab).getByText("Rejected.").waitFor();
  assert.match(await log(tab).innerText(), /rejects.*41/);
  const fixed = await hash(tab);
  assert.notEqual(fixed, base);
  await shot(tab, "lesson-rejected");

  assert.equal(base, native().hash, "the page's run is the command line's");
  assert.equal(fixed, native("--edit", "set resource.check token").hash, "and so is the one with the check");

  await tokenCheck(tab).click();
  await verdict(tab).getByText("Corrupted.").waitFor();
  assert.equal(await hash(tab), base);
}));

test("playing takes the learner from beat to beat to the harm", page(async ({ open }) => {
  const tab = await lesson(open);
  await tab.getByRole("combobox", { name: "Speed" }).selectOption({ label: "4×" });
  for (let stops = 0; stops < 30; stops++) {
    await button(tab, "Play").click();
    await button(tab, "Play").waitFor();
    if (await verdict(tab).getByText("Corrupted.").isVisible()) break;
  }
  assert.match(await verdict(tab).innerText(), /Corrupted\./, "the verdict is there at the starburst's step");
  assert.equal(await tab.getByRole("heading", { level: 1 }).innerText(), "The resource accepts");
  assert.ok(!(await button(tab, "Play").isDisabled()) && !(await tab.locator("#closing").isVisible()), "it is not the end");
}));

test("nothing starts by itself, and nothing is drawn while time stands", page(async ({ open }) => {
  const tab = await open("", { started: false });
  await tab.addInitScript(() => {
    globalThis.framesAsked = 0;
    const real = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.requestAnimationFrame = (call) => { globalThis.framesAsked++; return real(call); };
  });
  await tab.goto(tab.url() + LESSON);
  await tab.reload();
  await stage(tab).waitFor();
  await tab.waitForTimeout(10_000);
  assert.equal(await step(tab), 0);
  assert.equal(await tab.evaluate(() => globalThis.framesAsked), 0);

  await button(tab, "Play").click();
  await button(tab, "Play").waitFor();
  const asked = await tab.evaluate(() => globalThis.framesAsked);
  assert.ok(asked > 0);
  await tab.waitForTimeout(500);
  assert.equal(await tab.evaluate(() => globalThis.framesAsked), asked);
}));

test("a client is paused from the diagram and from the menu, and the past stays", page(async ({ open }) => {
  const tab = await lesson(open);
  await press(tab, "ArrowRight", "ArrowRight", "ArrowRight");
  const past = await log(tab).locator("li").allInnerTexts();
  const base = await hash(tab);

  const lane = tab.getByRole("button", { name: /^Client A: break it/ });
  await lane.click();
  const dialog = tab.getByRole("dialog");
  await dialog.getByRole("spinbutton", { name: /how long/ }).fill("20");
  await shot(tab, "lesson-break");
  await button(dialog, "Pause now").click();
  await dialog.waitFor({ state: "detached" });
  assert.match(await tab.locator(".edits ul").innerText(), /at .* pause client-a for 20s/);
  const after = await log(tab).locator("li").allInnerTexts();
  assert.deepEqual(after.slice(0, past.length), past);
  assert.match(after.at(-1), /pause/i);
  assert.match(await focused(tab), /Client A: break it/);
  assert.notEqual(await hash(tab), base);

  await tab.keyboard.press("Control+z");
  assert.equal(await hash(tab), base, "undo brings the old future back");

  await button(tab, "Break it").click();
  await dialog.getByRole("combobox", { name: "Which one" }).selectOption({ label: "Client B" });
  await button(dialog, "Pause now").click();
  await dialog.waitFor({ state: "detached" });
  assert.match(await tab.locator(".edits ul").innerText(), /pause client-b for 12s/);
  assert.match(await focused(tab), />Break it</);

  // And all of it by keys alone.
  await press(tab, "i");
  await dialog.waitFor();
  await tab.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.match(await focused(tab), /id="stage"/);
}));

test("steps lead back one event and to the start, and a link brings back the very step", page(async ({ open }) => {
  const tab = await lesson(open);
  await press(tab, "ArrowRight", "ArrowRight", "ArrowRight");
  assert.equal(await step(tab), 3);
  await press(tab, "ArrowLeft");
  assert.equal(await step(tab), 2);
  await button(tab, "To the start").click();
  assert.equal(await step(tab), 0);

  await press(tab, "f", "Control+ArrowRight", "Control+ArrowRight");
  // The address follows when the hand has rested, and what it says is what was reached.
  await tab.waitForFunction(() => location.hash.includes("event="));
  await passes(tab, 600);
  const before = [await step(tab), await hash(tab), tab.url()];
  await tab.reload();
  await stage(tab).waitFor();
  assert.deepEqual([await step(tab), await hash(tab), tab.url()], before);
  assert.equal(await tokenCheck(tab).getAttribute("aria-checked"), "true");
}));

test("an edit that cannot be read says where and what was expected, and nothing is lost", page(async ({ open }) => {
  const tab = await lesson(open);
  const base = await hash(tab);
  const field = tab.getByRole("textbox", { name: "Add an edit" });
  for (const [text, words] of [
    ["at 3s pause client-z for 12s", /character 13: no node `client-z`; the nodes are .*client-a/],
    ["at -3s pause client-a for 12s", /character 4: .*expected/],
    ["set resource.chek token", /resource\.check/],
    ["<b>bold</b>", /character 1: .*expected `at`/],
    ["", /expected an edit/],
  ]) {
    await field.fill(text);
    await field.press("Enter");
    await tab.getByRole("alert").filter({ hasText: words }).waitFor();
    assert.equal(await field.inputValue(), text);
    assert.equal(await hash(tab), base);
  }
  await field.fill("at 500ms pause client-b for 1s");
  await field.press("Enter");
  await tab.locator(".edits li").filter({ hasText: "client-b" }).waitFor();
  assert.equal(await field.inputValue(), "");
  assert.notEqual(await hash(tab), base);
  await tab.getByRole("button", { name: "Remove: at 500ms pause client-b for 1s" }).click();
  assert.equal(await hash(tab), base);
}));

test("keys work where nothing has the focus, and a button keeps its own", page(async ({ open }) => {
  const tab = await lesson(open, { viewport: { width: 900, height: 500 } });
  await tab.mouse.click(450, 20);
  await tab.keyboard.press("ArrowRight");
  assert.equal(await step(tab), 1);
  await tab.keyboard.press("Home");
  await tab.keyboard.press("ArrowDown");
  await tab.waitForFunction(() => scrollY > 0);

  // Space on a button acts once: it plays, and does not stop again at once.
  await button(tab, "Step forward").focus();
  await tab.keyboard.press("Space");
  assert.equal(await step(tab), 1);
}));

test("a prediction is committed before the run answers it", page(async ({ open }) => {
  const tab = await lesson(open);
  const card = tab.locator(".card");
  for (let i = 0; i < 40 && !(await card.isVisible()); i++) await press(tab, "ArrowRight");
  await shot(tab, "lesson-predict");
  await card.getByRole("radio", { name: /^Both/ }).check();
  await card.getByRole("radio", { name: "90 %" }).check();
  await button(card, "Commit").click();
  assert.match(await card.innerText(), /You said: Both, 90 % sure/);
  assert.doesNotMatch(await card.innerText(), /The run:/);
  assert.match(await focused(tab), /id="stage"/);
  for (let i = 0; i < 40 && !/The run:/.test(await card.innerText()); i++) await press(tab, "ArrowRight");
  assert.match(await card.innerText(), /The run: Both\./);
}));

test("words about another run are marked, and a run that nobody has told says so", page(async ({ open }) => {
  const tab = await open(LESSON + "?edits=at+3s+crash+client-b&event=60");
  await stage(tab).waitFor();
  const story = tab.locator(".story");
  await story.getByText("From here on this run goes its own way").waitFor();
  await button(story, "Next").click();
  await story.locator(".note").getByText(/These words are about the run “A long pause”\./).waitFor();
  assert.equal(await story.locator(".prose.other").count(), 1);
  await story.getByRole("button", { name: "Switch to that run" }).click();
  await story.locator(".note").waitFor({ state: "detached" });
}));

test("the story leads to its end, where two questions and one sentence wait", page(async ({ open }) => {
  const tab = await lesson(open);
  const story = tab.locator(".story");
  for (let i = 0; i < 30 && !(await button(story, "To the end").isVisible()); i++) {
    await story.locator(".turns button").last().click();
  }
  await button(story, "To the end").click();
  const card = tab.locator("#closing");
  await card.getByText("Between the check and the write").waitFor();
  const first = card.locator("details").first();
  assert.equal(await card.locator("details").count(), 2);
  assert.equal(await first.locator("p").isVisible(), false);
  await first.locator("summary").click();
  assert.equal(await first.locator("p").isVisible(), true);
}));

test("a lesson listens to keys as soon as it is open", page(async ({ open }) => {
  const tab = await lesson(open);
  await tab.keyboard.press("ArrowRight");
  assert.equal(await step(tab), 1);

  await tab.keyboard.press("i");
  const dialog = tab.getByRole("dialog");
  await dialog.waitFor();
  const length = dialog.getByRole("spinbutton", { name: /how long/ });
  assert.match(await focused(tab), /<select/);
  await length.fill("20");
  await dialog.getByRole("combobox", { name: "Which one" }).selectOption({ label: "Client B" });
  await dialog.getByRole("combobox", { name: "The way to" }).selectOption({ label: "Client A" });
  assert.equal(await length.inputValue(), "20");
  assert.equal(await dialog.getByRole("combobox", { name: "Which one" }).locator("option:checked").innerText(), "Client B");
}));

test("what does not exist is said, and the list of lessons lives on", page(async ({ open, trouble }) => {
  for (const [where, words] of [
    ["#/nowhere", /There is no page/],
    ["#/lesson/no-such-lesson", /There is no lesson “no-such-lesson” here/],
  ]) {
    const tab = await open(where);
    await tab.getByRole("alert").filter({ hasText: words }).waitFor();
    await accessible(tab);
    const all = tab.getByRole("link", { name: "All lessons" });
    if (await all.isVisible()) await all.click();
    await tab.getByRole("link", { name: /lease-expiration race/ }).first().waitFor();
  }
  // The browser itself logs the 404.
  trouble.errors.length = 0;
}));

test("home and lesson have no accessibility violations, light and dark, wide and narrow", page(async ({ open }) => {
  const rules = { "target-size": { enabled: true }, "label-content-name-mismatch": { enabled: true } };
  for (const colorScheme of ["light", "dark"]) {
    for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
      const home = await open("", { colorScheme, viewport });
      await home.getByRole("link", { name: /lease-expiration race/ }).first().waitFor();
      await accessible(home, { rules });
      const tab = await lesson(open, { colorScheme, viewport });
      await accessible(tab, { rules });
      await press(tab, "End");
      await verdict(tab).getByText("Corrupted.").waitFor();
      await accessible(tab, { rules });
      await press(tab, "i");
      await tab.getByRole("dialog").waitFor();
      await accessible(tab, { rules });
      await tab.keyboard.press("Escape");
      await shot(tab, `lesson-${colorScheme}-${viewport.width}`);
      const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `the page scrolls sideways by ${overflow} px`);
    }
  }
}));

test("with reduced motion the run is shown event by event, and says the same", page(async ({ open }) => {
  const tab = await lesson(open, { reducedMotion: "reduce" });
  await button(tab, "Play").click();
  await tab.waitForFunction(() => document.querySelector(".stage").dataset.step === "1");
  assert.equal(await tab.evaluate(() => document.getAnimations().length), 0);
  await press(tab, "End");
  const quiet = await log(tab).innerText();
  const other = await lesson(open);
  await press(other, "End");
  assert.equal(quiet, await log(other).innerText());
}));
