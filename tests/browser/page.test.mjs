// What the page does for whoever operates it: keys, settings, announcements, a projector, small screens, and the way
// back when the browser keeps nothing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, drawn, page, passes, shot } from "./lib.mjs";

const LESSON = "#/lesson/lease-expiration";

const stage = (tab) => tab.locator(".stage");
const step = async (tab) => Number(await stage(tab).getAttribute("data-step"));
const hash = (tab) => stage(tab).getAttribute("data-run-hash");
const button = (tab, name) => tab.getByRole("button", { name, exact: true });
const dialog = (tab) => tab.getByRole("dialog");
const focusedId = (tab) => tab.evaluate(() => document.activeElement?.id);
const said = (tab) => tab.locator("#said");
const verdict = (tab) => tab.locator("#verdict");

async function lesson(open, options, where = LESSON) {
  const tab = await open(where, options);
  await stage(tab).waitFor();
  return tab;
}

async function press(tab, ...keys) {
  await tab.locator("#stage").focus();
  for (const key of keys) await tab.keyboard.press(key);
}

async function settings(tab, change) {
  await button(tab, "Settings").click();
  await change(dialog(tab));
  await tab.keyboard.press("Escape");
  await dialog(tab).waitFor({ state: "detached" });
}

const letters = (scope) => scope.getByRole("switch", { name: "Single-letter keys" });

// ---- Keys ----------------------------------------------------------------------------------------------------------

test("letters open, choose and lead where the help says", page(async ({ open }) => {
  const tab = await lesson(open);
  await press(tab, "g");
  await dialog(tab).getByRole("spinbutton").waitFor();
  await tab.keyboard.type("7");
  await tab.keyboard.press("Enter");
  await dialog(tab).waitFor({ state: "detached" });
  assert.equal(await step(tab), 7);

  await press(tab, ".");
  assert.match(await tab.getByRole("combobox", { name: "Speed" }).locator("option:checked").innerText(), /^2×/);
  await press(tab, ",", ",");
  assert.match(await tab.getByRole("combobox", { name: "Speed" }).locator("option:checked").innerText(), /^0\.5×/);

  for (const [key, id] of [["1", "log"], ["2", "stage"], ["3", "program"], ["4", "knows"]]) {
    await press(tab, key);
    await tab.waitForFunction((wanted) => document.activeElement?.id === wanted, id);
  }
  await press(tab, "?");
  await dialog(tab).getByRole("heading", { name: "Keys and help" }).waitFor();
}));

test("a lane is selected by keys, is seen and said, and P, X and C act on it", page(async ({ open }) => {
  const tab = await lesson(open);
  const before = await hash(tab);
  await press(tab, "ArrowRight", "ArrowRight", "]");
  assert.equal(await said(tab).innerText(), "Client B is selected.");
  assert.match(await tab.locator(".lane.selected").getAttribute("aria-label"), /^Client B: .*selected$/);
  assert.equal(await tab.locator("#program").getAttribute("aria-label"), "Client B’s program");

  await press(tab, "p");
  await dialog(tab).waitFor();
  await tab.keyboard.type("20");
  await tab.keyboard.press("Enter");
  await dialog(tab).waitFor({ state: "detached" });
  assert.match(await tab.locator(".edits ul").innerText(), /pause client-b for 20s/);
  assert.notEqual(await hash(tab), before);
  await tab.keyboard.press("Control+z");
  assert.equal(await hash(tab), before);

  await press(tab, "x");
  await dialog(tab).waitFor();
  await tab.keyboard.press("Enter");
  await dialog(tab).waitFor({ state: "detached" });
  assert.match(await tab.locator(".edits ul").innerText(), /cut client-b lock-service for 12s/);

  await press(tab, "[", "c");
  await dialog(tab).waitFor();
  await tab.keyboard.press("Enter");
  await dialog(tab).waitFor({ state: "detached" });
  assert.match(await tab.locator(".edits ul").innerText(), /kill client-a/);

  await press(tab, "[");
  assert.match(await tab.locator(".panel").filter({ hasText: "Program" }).innerText(), /It runs no program/);
}));

test("the link to this very step is copied, and that is shown and said", page(async ({ open }) => {
  const tab = await lesson(open, { permissions: ["clipboard-read", "clipboard-write"] });
  await press(tab, "ArrowRight", "ArrowRight", "l");
  await tab.locator(".notice").getByText("Link copied.").waitFor();
  assert.equal(await said(tab).innerText(), "Link copied.");
  const link = await tab.evaluate(() => navigator.clipboard.readText());
  // The address follows a burst of steps a moment later; the copied link does not wait for it.
  await tab.waitForURL(link);
  const other = await lesson(open, {}, new URL(link).hash);
  assert.deepEqual([await step(other), await hash(other)], [await step(tab), await hash(tab)]);
  await tab.locator(".notice").waitFor({ state: "detached" });
}));

/** Presses keys one after the other, and waits for nothing in between. */
async function hurry(tab, ...keys) {
  await Promise.all(keys.flatMap((key) => [tab.keyboard.down(key), tab.keyboard.up(key)]));
  await drawn(tab);
}

test("a hand that is faster than the machine loses no key", page(async ({ open }) => {
  const tab = await lesson(open, { permissions: ["clipboard-read", "clipboard-write"] });
  const machine = await tab.context().newCDPSession(tab);
  await tab.locator("#stage").focus();
  await machine.send("Emulation.setCPUThrottlingRate", { rate: 8 });
  await hurry(tab, "ArrowRight", "]", "]", "ArrowRight", "]", ".", ".");
  assert.equal(await step(tab), 2);
  assert.match(await tab.locator(".lane.selected").getAttribute("aria-label"), /^Resource/);
  assert.match(await tab.getByRole("combobox", { name: "Speed" }).locator("option:checked").innerText(), /^4×/);
  await hurry(tab, "f", "ArrowRight", "f", "ArrowLeft", "f");
  assert.match(await tab.locator(".edits ul").innerText(), /set resource\.check token/);

  // What a key opens has the next keys, and what one closes has them no longer.
  await hurry(tab, "ArrowRight", "g", "7", "Enter", "ArrowRight");
  assert.equal(await step(tab), 8);
  await hurry(tab, "[", "[", "p", "2", "0", "Enter");
  assert.match(await tab.locator(".edits ul").innerText(), /pause client-b for 20s/);

  await hurry(tab, "Home", "ArrowRight", "ArrowRight", "ArrowRight", "l");
  await tab.locator(".notice").getByText("Link copied.").waitFor();
  const link = await tab.evaluate(() => navigator.clipboard.readText());
  const other = await lesson(open, {}, new URL(link).hash);
  assert.deepEqual([await step(other), await hash(other)], [3, await hash(tab)]);
}));

test("single-letter keys are found, switched off, and stay off", page(async ({ open }) => {
  const tab = await lesson(open);
  // Two presses from the lesson: settings, switch.
  await settings(tab, async (sheet) => {
    assert.equal(await letters(sheet).getAttribute("aria-checked"), "true");
    await letters(sheet).click();
    assert.equal(await letters(sheet).getAttribute("aria-checked"), "false");
  });
  const nothing = async () => {
    await press(tab, "k", "g", "p", ".", "l", "?", "i");
    assert.equal(await dialog(tab).count(), 0);
    assert.equal(await step(tab), 0);
    assert.ok(await button(tab, "Play").isVisible());
  };
  await nothing();
  await tab.reload();
  await stage(tab).waitFor();
  await nothing();
  await press(tab, "ArrowRight");
  assert.equal(await step(tab), 1, "keys without a letter go on working");

  // The help has the same switch beside the list of these keys.
  await button(tab, "Help").click();
  const work = dialog(tab).getByRole("switch", { name: "These keys work" });
  assert.equal(await work.getAttribute("aria-checked"), "false");
  await work.click();
  await tab.keyboard.press("Escape");
  await press(tab, "g");
  await dialog(tab).getByRole("spinbutton").waitFor();
}));

test("keys work wherever the focus is, but in fields and dialogs, and arrows scroll", page(async ({ open }) => {
  const tab = await lesson(open, { viewport: { width: 900, height: 500 } });
  // A press on the head of the page, or where nothing is, takes the focus away from the lesson.
  for (const target of [() => document.activeElement.blur(), () => document.querySelector("header a").focus()]) {
    await tab.evaluate(target);
    await tab.keyboard.press("ArrowRight");
    assert.equal(await step(tab), 1);
    await tab.keyboard.press("Home");
    assert.equal(await step(tab), 0);
    await tab.keyboard.press("g");
    await dialog(tab).waitFor();
    await tab.keyboard.press("k");
    await tab.keyboard.press("Escape");
    await dialog(tab).waitFor({ state: "detached" });
    assert.equal(await step(tab), 0, "a dialog has its keys for itself");
  }
  await tab.locator("#edit").focus();
  await tab.keyboard.type("kgp");
  assert.equal(await tab.locator("#edit").inputValue(), "kgp");
  assert.equal(await dialog(tab).count(), 0);
  await tab.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  await tab.keyboard.press("ArrowDown");
  await tab.waitForFunction(() => scrollY > 0);
  assert.equal(await step(tab), 0);

  await button(tab, "Step forward").focus();
  await tab.keyboard.press("Space");
  assert.equal(await step(tab), 1, "Space on a button acts once");
}));

// ---- Settings ------------------------------------------------------------------------------------------------------

test("settings are remembered, and the address's colours win without being kept", page(async ({ open, trouble }) => {
  const tab = await lesson(open);
  const theme = () => tab.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await theme();
  await settings(tab, async (sheet) => {
    await sheet.getByRole("combobox", { name: "Colours" }).selectOption({ label: "Dark" });
    await sheet.getByRole("combobox", { name: "Motion" }).selectOption({ label: "Reduced" });
    await sheet.getByRole("switch", { name: "Stop at beats" }).click();
    await accessible(tab);
    await shot(tab, "settings");
  });
  const dark = await theme();
  assert.notEqual(dark, light);
  await tab.reload();
  await stage(tab).waitFor();
  assert.equal(await theme(), dark);
  await settings(tab, async (sheet) => {
    assert.equal(await sheet.getByRole("switch", { name: "Stop at beats" }).getAttribute("aria-checked"), "false");
  });

  const kept = await tab.evaluate(() => JSON.stringify(localStorage));
  const address = new URL(tab.url());
  address.search = "?theme=light";
  await tab.goto(address.href);
  await stage(tab).waitFor();
  assert.equal(await theme(), light);
  assert.equal(await tab.evaluate(() => JSON.stringify(localStorage)), kept);
  assert.equal(trouble.errors.length, 0);
}));

for (const [what, spoil] of [
  ["that forbids its storage", () => {
    Object.defineProperty(globalThis, "localStorage", { get() { throw new DOMException("no", "SecurityError"); } });
  }],
  ["whose storage is full", () => {
    Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
  }],
]) {
  test(`a browser ${what} loses nothing but the memory of settings, and says so`, page(async ({ open }) => {
    const tab = await open("", { started: false });
    await tab.addInitScript(spoil);
    await tab.goto(tab.url() + LESSON);
    await tab.reload();
    await stage(tab).waitFor();
    await settings(tab, async (sheet) => {
      await sheet.getByRole("combobox", { name: "Colours" }).selectOption({ label: "Dark" });
      await sheet.getByText("This browser keeps nothing: settings last until you close the page.").waitFor();
      assert.equal(await sheet.getByText("This browser keeps nothing").count(), 1);
      await letters(sheet).click();
    });
    assert.equal(await tab.evaluate(() => document.documentElement.dataset.theme), "dark");
    await press(tab, "g");
    assert.equal(await dialog(tab).count(), 0, "the settings hold");
    await press(tab, "End");
    await verdict(tab).getByText("Corrupted.").waitFor();
  }));
}

// ---- Announcing ----------------------------------------------------------------------------------------------------

/** Writes down what the region says, and when it is written: an observer of it hears of that later. */
async function listen(tab) {
  await tab.evaluate(() => {
    globalThis.heard = [];
    const { get, set } = Object.getOwnPropertyDescriptor(Node.prototype, "textContent");
    Object.defineProperty(document.querySelector("#said"), "textContent", {
      get,
      set(words) {
        globalThis.heard.push([performance.now(), words]);
        set.call(this, words);
      },
    });
  });
}

const heard = (tab) => tab.evaluate(() => globalThis.heard.splice(0));

test("a step is said once, moving is silent until it is still, an injection is short", page(async ({ open }) => {
  const tab = await lesson(open);
  await listen(tab);
  assert.equal(await tab.locator("[aria-live]").count(), 1, "one region, and the log is none");
  await press(tab, "ArrowRight");
  await tab.locator('.stage[data-step="1"]').waitFor();
  await press(tab, "ArrowRight");
  await tab.locator('.stage[data-step="2"]').waitFor();
  const current = tab.locator(".entries [aria-current=step] span").last();
  const words = (await heard(tab)).map(([, text]) => text);
  assert.equal(words.length, 2);
  assert.equal(words.at(-1), await current.innerText());

  const range = tab.getByRole("slider", { name: "Position in the run" });
  for (const at of [1, 3, 5, 7]) {
    await range.evaluate((input, value) => {
      input.value = value;
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }, String(at * 1_000_000));
    await tab.waitForTimeout(100);
  }
  const last = await tab.evaluate(() => performance.now());
  await passes(tab, 900);
  const moved = await heard(tab);
  assert.equal(moved.length, 1, JSON.stringify(moved));
  assert.ok(moved[0][0] - last > 300, "it was still for a while");
  assert.match(moved[0][1], /believes it holds/);
  assert.equal(moved[0][1], await tab.locator(".stands").innerText());

  // A is paused here already, and is not paused twice.
  await press(tab, "]");
  await heard(tab);
  await press(tab, "p");
  await dialog(tab).waitFor();
  await tab.keyboard.press("Enter");
  await dialog(tab).waitFor({ state: "detached" });
  const injected = await heard(tab);
  assert.equal(injected.length, 1);
  assert.ok(injected[0][1].split(/\s+/).length <= 12, injected[0][1]);
}));

test("while it plays only decisions are said, and never two within a second and a half", page(async ({ open }) => {
  const tab = await lesson(open);
  await settings(tab, (sheet) => sheet.getByRole("switch", { name: "Stop at beats" }).click());
  await tab.getByRole("combobox", { name: "Speed" }).selectOption({ label: "4×" });
  await listen(tab);
  // Questions stop it; the learner goes on.
  for (const until = Date.now() + 10_000; Date.now() < until;) {
    const play = button(tab, "Play");
    if (await play.isVisible()) await play.click();
    await tab.waitForTimeout(300);
  }
  const words = await heard(tab);
  await press(tab, "End");
  await tab.getByRole("combobox", { name: "Show" }).selectOption({ label: "Decisions" });
  const log = await tab.locator(".entries").innerText();
  // A fast machine comes to the end of the run.
  const known = (text) => log.includes(text) || /^(Stopped|Corrupted\.)/.test(text);
  for (const [, text] of words) assert.ok(known(text), text);
  assert.ok(words.length >= 2, JSON.stringify(words));
  for (const [before, after] of words.slice(1).map((w, i) => [words[i], w])) {
    assert.ok(after[0] - before[0] >= 1450, `${before} then ${after}`);
  }
  await settings(tab, (sheet) => sheet.getByRole("combobox", { name: /screen reader/ }).selectOption({ label: "Nothing" }));
  await heard(tab);
  await press(tab, "ArrowRight", "ArrowRight");
  await tab.waitForTimeout(600);
  assert.deepEqual(await heard(tab), []);
}));

// ---- Log -----------------------------------------------------------------------------------------------------------

test("the log has headings, lists in the order of time, and a way to each step", page(async ({ open }) => {
  const tab = await lesson(open);
  await press(tab, "End");
  const log = tab.getByRole("region", { name: "What happened" });
  const titles = await log.getByRole("heading", { level: 3 }).allInnerTexts();
  for (const title of ["Client A holds 41", "Client A and Client B both believe", "Client B holds 42"]) {
    assert.ok(titles.includes(title), titles.join(", "));
  }
  assert.equal(await log.locator("h3 + ol").count(), titles.length);
  const times = (await log.locator(".time").allInnerTexts()).map(parseFloat);
  assert.ok(times.length > 20);
  assert.deepEqual(times, times.toSorted((a, b) => a - b));
  assert.equal(await log.locator("[aria-current=step]").count(), 1);

  const whole = times.length;
  const show = log.getByRole("combobox", { name: "Show" });
  await show.selectOption({ label: "Decisions" });
  const decisions = await log.locator(".time").count();
  await show.selectOption({ label: "Lock service" });
  const service = await log.locator(".time").count();
  assert.ok(decisions < whole && service < whole && service > 0);
  await show.selectOption({ label: "All" });

  await log.getByRole("button", { name: /^Go to step 7: / }).click();
  assert.equal(await step(tab), 7);
  assert.ok((await tab.locator("*").count()) < 3000);
}));

// ---- A projector ---------------------------------------------------------------------------------------------------

/** The size of every visible word: an element's own, and in a picture times its scale. */
function letterSizes() {
  const sizes = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "");
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (!own || box.width < 2 || box.height < 2 || style.visibility === "hidden" || style.clipPath !== "none") continue;
    const scale = element instanceof SVGElement ? element.getScreenCTM().a : 1;
    sizes.push([parseFloat(style.fontSize) * scale, element.textContent.trim().slice(0, 40)]);
  }
  return sizes.toSorted((a, b) => a[0] - b[0]);
}

const present = async (open, options, where = `${LESSON}?present=1`) => lesson(open, options, where);

test("from home two clicks lead to a projector, and all its letters are large", page(async ({ open }) => {
  const tab = await open("", { viewport: { width: 1280, height: 720 } });
  await tab.getByRole("link", { name: /lease-expiration race/ }).first().click();
  await button(tab, "Present").click();
  await tab.locator(".wall").waitFor();
  assert.equal(await tab.locator("#app :is(header.top, .side, .tools, .transport)").count(), 0);
  await tab.waitForFunction(() => { const s = document.querySelector("#stage"); return s.scrollWidth <= s.clientWidth; });
  const told = new Set();
  for (let turns = 0; turns < 24; turns++) {
    const [smallest] = await tab.evaluate(letterSizes);
    assert.ok(smallest[0] >= 27.99, `${smallest}`);
    const sideways = await tab.evaluate(() => {
      const picture = document.querySelector("#stage");
      return [document.documentElement.scrollWidth - innerWidth, picture ? picture.scrollWidth - picture.clientWidth : 0];
    });
    assert.ok(Math.max(...sideways) <= 0, `everything is in sight: ${sideways}`);
    told.add(await tab.locator(".count").innerText());
    await tab.keyboard.press("PageDown");
  }
  assert.ok(told.size > 8, [...told].join(", "));
}));

test("a projector of 800 by 600 stays legible", page(async ({ open }) => {
  const tab = await present(open, { viewport: { width: 800, height: 600 } });
  for (let turns = 0; turns < 6; turns++) {
    const [smallest] = await tab.evaluate(letterSizes);
    assert.ok(smallest[0] >= 18, `${smallest}`);
    await tab.keyboard.press("PageDown");
  }
}));

test("a presenter turns, blanks, leaves, and comes back to the very step", page(async ({ open, trouble }) => {
  const tab = await open("", { started: false });
  const address = new URL(tab.url());
  address.search = "?present=1";
  address.hash = LESSON;
  await tab.goto(address.href);
  await tab.locator(".wall").waitFor();
  await tab.keyboard.press("PageDown");
  await tab.keyboard.press("PageDown");
  const here = [await step(tab), await tab.locator(".wall h1").innerText()];
  assert.ok(here[0] > 0);
  await passes(tab, 200);
  await tab.reload();
  await tab.locator(".wall").waitFor();
  await stage(tab).waitFor();
  assert.deepEqual([await step(tab), await tab.locator(".wall h1").innerText()], here);
  await tab.keyboard.press("PageUp");
  assert.ok((await step(tab)) < here[0]);

  await tab.keyboard.press(".");
  await tab.locator(".blank").waitFor();
  const before = await step(tab);
  await tab.keyboard.press("ArrowRight");
  await tab.locator(".blank").waitFor({ state: "detached" });
  assert.equal(await step(tab), before, "the key that brings the picture back does nothing else");
  await tab.keyboard.press("b");
  await tab.locator(".blank").waitFor();
  await tab.keyboard.press("b");
  await tab.locator(".blank").waitFor({ state: "detached" });

  await tab.keyboard.press("Escape");
  await tab.locator(".wall").waitFor({ state: "detached" });
  await tab.locator("#app header.top").waitFor();
  await tab.waitForFunction(() => !location.href.includes("present"));
  assert.equal(await step(tab), before);
  assert.equal(trouble.errors.length, 0);
}));

test("the wall is turned as soon as it is there", page(async ({ open }) => {
  const tab = await open("", { started: false });
  const machine = await tab.context().newCDPSession(tab);
  await machine.send("Emulation.setCPUThrottlingRate", { rate: 8 });
  await tab.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const wall = document.querySelector(".wall");
      if (!wall) return;
      observer.disconnect();
      wall.dispatchEvent(new KeyboardEvent("keydown", { key: "PageDown", bubbles: true, cancelable: true }));
    }).observe(document, { childList: true, subtree: true });
  });
  await tab.goto(`${tab.url()}${LESSON}?present=1`);
  await tab.reload();
  await tab.waitForFunction(() => Number(document.querySelector(".wall .stage")?.dataset.step) > 0);
}));

test("a class votes, discusses and votes again before the run decides", page(async ({ open, trouble }) => {
  const tab = await present(open, { viewport: { width: 1280, height: 720 } });
  const vote = tab.locator(".vote");
  for (let turns = 0; turns < 20 && !(await vote.isVisible()); turns++) await tab.keyboard.press("PageDown");
  assert.equal(await focusedId(tab), "vote-title");
  await shot(tab, "present-vote");
  await accessible(tab);
  const hands = (round) => vote.getByRole("spinbutton", { name: new RegExp(`vote ${round}`) });
  await hands(1).first().fill("12");
  await hands(1).nth(1).fill("9");
  await vote.getByRole("button", { name: /^One more of the hands in vote 1/ }).first().click();
  assert.equal(await hands(1).first().inputValue(), "13");
  await button(vote, "Vote again").click();
  await hands(2).nth(1).fill("22");
  const [smallest] = await tab.evaluate(letterSizes);
  assert.ok(smallest[0] >= 27.99, `${smallest}`);
  const asked = trouble.requests.length;
  const since = () => trouble.requests.slice(asked).filter((url) => !url.includes("favicon"));
  await button(vote, "Let the run decide").click();
  await vote.waitFor({ state: "detached" });
  for (let turns = 0; turns < 20 && !(await tab.locator(".result").isVisible()); turns++) {
    await tab.keyboard.press("PageDown");
  }
  assert.match(await tab.locator(".result").innerText(), /The run: .* \d+ of 22 hands, after discussing \d+ of 22 hands/);
  assert.deepEqual(since(), [], "nothing is sent anywhere");
}));

// ---- Less motion ---------------------------------------------------------------------------------------------------

test("the page's own switch stills everything, and the words are the same", page(async ({ open }) => {
  const tab = await lesson(open, { reducedMotion: "no-preference" });
  await settings(tab, (sheet) => sheet.getByRole("combobox", { name: "Motion" }).selectOption({ label: "Reduced" }));
  const started = Date.now();
  await button(tab, "Play").click();
  await tab.waitForFunction(() => Number(document.querySelector(".stage").dataset.step) >= 2);
  assert.ok(Date.now() - started > 2500, "each event stands for a second and a half");
  assert.equal(await tab.evaluate(() => document.getAnimations().length), 0);
  assert.equal(await tab.locator(".dot:visible").count(), 0, "nothing travels");
  await press(tab, "Home", "ArrowRight", "ArrowRight");
  await tab.locator(".picture text").filter({ hasText: "→ delivered" }).first().waitFor();
  await press(tab, "End");
  const quiet = await tab.locator(".entries").innerText();
  const other = await lesson(open);
  await press(other, "End");
  assert.equal(quiet, await other.locator(".entries").innerText());
}));

// ---- The first minute ----------------------------------------------------------------------------------------------

test("a newcomer corrupts data in three clicks, and the same schedule is rejected in two more", page(async ({ open }) => {
  const started = Date.now();
  const tab = await open();
  let clicks = 0;
  const click = async (target) => { clicks++; await target.click(); };
  await click(tab.locator(".cards a").first());
  await stage(tab).waitFor();
  const play = button(tab, "Play");
  while (clicks < 3 && !(await verdict(tab).getByText("Corrupted.").isVisible())) {
    await click(play);
    await Promise.race([
      verdict(tab).getByText("Corrupted.").waitFor({ timeout: 50_000 }),
      tab.waitForTimeout(300).then(() => play.waitFor({ timeout: 50_000 })),
    ]);
  }
  await verdict(tab).getByText("Corrupted.").waitFor({ timeout: 1000 });
  assert.ok(Date.now() - started < 60_000);
  const corrupted = await step(tab);
  const run = await hash(tab);

  await tab.getByRole("switch", { name: /checks the token/ }).click();
  if (!(await verdict(tab).getByText("Rejected.").isVisible())) await button(tab, "Play").click();
  await verdict(tab).getByText("Rejected.").waitFor({ timeout: 20_000 });
  assert.notEqual(await hash(tab), run);

  await tab.keyboard.press("Control+z");
  const here = await step(tab);
  assert.ok(here > 0 && corrupted > 0);
  await button(tab, "Step back").click();
  assert.equal(await step(tab), here - 1, "back exactly one event");
  await button(tab, "To the start").click();
  assert.equal(await step(tab), 0);
}));
