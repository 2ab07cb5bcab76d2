// Branches, undo, predictions and tasks outlive a reload, a second tab and a file; two runs are compared; links of other
// editions open with a reason; a hidden tab goes on where it stopped.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { accessible, focusIs, page, passes, running, shot, unfold } from "./lib.mjs";

const LESSON = "#/lesson/lease-expiration";
const KEY = "lockscope.kept";

const hash = (tab) => tab.locator(".stage").getAttribute("data-run-hash");
const step = (tab) => tab.locator(".stage").getAttribute("data-step");
const edits = (tab) => tab.locator(".edits code").allTextContents();
const rows = (tab) => tab.locator(".branches > ul > li .branch-name").allTextContents();
const undo = (tab) => tab.locator(".edits").getByRole("button", { name: "Undo", exact: true });
const redo = (tab) => tab.locator(".edits").getByRole("button", { name: "Redo", exact: true });
const switchOf = (tab) => tab.getByRole("switch", { name: "The resource checks the token" });
const kept = (tab) => tab.evaluate((key) => localStorage.getItem(key), KEY);

async function add(tab, edit) {
  await tab.locator("#edit").fill(edit);
  await tab.keyboard.press("Enter");
  await tab.locator(".edits code").getByText(edit, { exact: true }).first().waitFor();
  await unfold(tab, "runs");
}

/** Waits until what is kept names all of these. */
const keeps = (tab, ...texts) => tab.waitForFunction(
  ([key, all]) => all.every((text) => (localStorage.getItem(key) ?? "").includes(text)), [KEY, texts]);

async function reload(tab) {
  await tab.reload();
  await running(tab);
}

test("branches, undo, predictions and solved tasks survive a reload", page(async ({ open }) => {
  const tab = await open(LESSON);
  for (let turn = 0; turn < 9 && !(await tab.locator("#predict").isVisible()); turn += 1) {
    await tab.keyboard.press("Control+ArrowRight");
    await tab.waitForTimeout(100);
  }
  await tab.locator("#predict").getByRole("radio").first().check();
  await tab.locator("#predict").getByRole("radio", { name: "70 %" }).check();
  await tab.getByRole("button", { name: "Commit" }).click();
  await add(tab, "at 5s crash client-b");
  await switchOf(tab).click();
  // A learner takes a moment before the step back, and what is taken back is kept already.
  await keeps(tab, "at 5s crash client-b", "resource.check", "\"sure\":70");
  await undo(tab).click();
  // What is kept names the defence before it is undone, too; now it is what can be done again.
  await tab.waitForFunction((key) => {
    const [{ undo }] = Object.values(JSON.parse(localStorage.getItem(key)).lessons);
    return undo.at(-1).future.length === 1;
  }, KEY);
  const before = [await hash(tab), await step(tab), await edits(tab), await rows(tab)];
  assert.equal(before[3].length, 3);

  await reload(tab);
  assert.deepEqual([await hash(tab), await step(tab), await edits(tab), await rows(tab)], before);
  await redo(tab).click();
  assert.ok((await edits(tab)).includes("set resource.check token"));
  await undo(tab).click();
  await undo(tab).click();
  assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 12s"]);
  // Undo leads back to where the prediction was made.
  await tab.getByText(/^You said: .*70 % sure/).first().waitFor();

  await tab.getByRole("button", { name: "Help me" }).click();
  await tab.getByRole("button", { name: "Show a solution" }).click();
  await tab.locator("#lesson").focus();
  await tab.keyboard.press("End");
  await tab.locator(".words").getByText("Reached: this run does it.").waitFor();
  await keeps(tab, "\"level\":\"help\",\"yes\":true");
  await reload(tab);
  await tab.keyboard.press("Home");
  await tab.locator(".words").getByText("Reached: this run does it.").waitFor();
}));

test("branches are opened, named, deleted and brought back with keys alone", page(async ({ open }) => {
  const tab = await open(`${LESSON}?event=200`);
  await add(tab, "at 5s crash client-b");
  assert.deepEqual(await rows(tab), ["A long pause", "A long pause, with: at 5s crash client-b"]);
  const other = await hash(tab);
  await accessible(tab);
  const row = tab.locator(".branches > ul > li").first();
  await row.locator("summary").focus();
  await tab.keyboard.press("Enter");
  await row.getByRole("textbox").focus();
  await tab.keyboard.type("the worked example");
  await tab.keyboard.press("Enter");
  await tab.locator(".branch-name", { hasText: "the worked example" }).waitFor();
  await accessible(tab);
  await row.getByRole("button", { name: "Open: the worked example" }).focus();
  await tab.keyboard.press("Enter");
  await tab.waitForFunction((was) => document.querySelector(".stage").getAttribute("data-run-hash") !== was, other);
  assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 12s"]);
  const second = tab.locator(".branches > ul > li").nth(1);
  await second.locator("summary").focus();
  await tab.keyboard.press("Space");
  await second.getByRole("button", { name: /^Delete/ }).focus();
  await tab.keyboard.press("Enter");
  await tab.getByText("Deleted: A long pause, with: at 5s crash client-b.").first().waitFor();
  await focusIs(tab, "branches-title");
  assert.deepEqual(await rows(tab), ["the worked example"]);
  await tab.locator(".branches").getByRole("button", { name: "Undo" }).focus();
  await tab.keyboard.press("Enter");
  await tab.locator(".branch-name", { hasText: "at 5s crash client-b" }).waitFor();
  await keeps(tab, "the worked example", "at 5s crash client-b");
}));

test("two tabs on one storage lose nothing, and rest", page(async ({ open }) => {
  const one = await open(`${LESSON}?event=200`);
  const two = await one.context().newPage();
  await two.goto(one.url());
  await running(two);
  await Promise.all([add(one, "at 5s crash client-b"), add(two, "at 6s crash client-a")]);
  for (const tab of [one, two]) {
    await tab.locator(".branch-name", { hasText: "crash client-b" }).waitFor();
    await tab.locator(".branch-name", { hasText: "crash client-a" }).waitFor();
  }
  assert.deepEqual((await rows(one)).sort(), (await rows(two)).sort());
  await keeps(one, "crash client-b", "crash client-a");
  await one.waitForTimeout(500);
  const text = await kept(one);
  await one.waitForTimeout(700);
  assert.equal(await kept(one), text, "nobody writes any more");
  // Each undoes its own.
  for (const [tab, edit] of [[one, "at 5s crash client-b"], [two, "at 6s crash client-a"]]) {
    await reload(tab);
    assert.equal((await edits(tab)).at(-1), edit);
    await undo(tab).click();
    assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 12s"]);
    assert.equal((await rows(tab)).length, 3);
  }
}));

async function choose(tab, name, content) {
  const path = join(tmpdir(), `lockscope-${process.pid}-${name}`);
  await writeFile(path, content);
  await unfold(tab, "runs");
  const before = await tab.locator("#work-told").textContent();
  const chooser = tab.waitForEvent("filechooser");
  await tab.locator(".files summary").evaluate((summary) => { summary.parentElement.open = true; });
  await tab.locator("input[type=file]").evaluate((field) => field.click());
  await (await chooser).setFiles(path);
  await tab.waitForFunction((old) => !["", old].includes(document.querySelector("#work-told").textContent), before);
  return tab.locator("#work-told").textContent();
}

test("all branches go into a file and come back in another browser; a bad file changes nothing", page(async ({ open }) => {
  const tab = await open(`${LESSON}?event=200`);
  await add(tab, "at 5s crash client-b");
  await tab.locator(".files summary").click();
  const download = tab.waitForEvent("download");
  await tab.getByRole("button", { name: "Save to a file" }).click();
  const file = await readFile(await (await download).path(), "utf8");
  assert.match(file, /"lockscope": 1/);
  assert.match(file, /at 5s crash client-b/);

  const other = await open(`${LESSON}?event=200`);
  const bad = await choose(other, "bad.json", file.replace("\"edits\": [", "\"edits\": [7,"));
  assert.match(bad, /Nothing was loaded: `lessons\.lease-expiration\.branches\.\d\.edits\.1`: expected a text\./);
  assert.deepEqual(await rows(other), []);
  const text = await choose(other, "text.json", "{ \"lockscope\": 1,");
  assert.match(text, /Nothing was loaded: character \d+: expected/);
  const good = await choose(other, "good.json", file);
  assert.match(good, /^Loaded: 2 branches in this lesson, under “Other runs, and your branches”\.$/);
  await other.locator(".branch-name", { hasText: "at 5s crash client-b" }).waitFor();
  await other.locator(".branches > ul > li summary").nth(1).click();
  await other.getByRole("button", { name: /^Open: A long pause, with/ }).click();
  await other.waitForFunction((hash) => document.querySelector(".stage").getAttribute("data-run-hash") === hash, await hash(tab));
  await shot(other, "branches");
}));

for (const [what, prepare, words] of [
  ["forbidden", () => Object.defineProperty(globalThis, "localStorage", { get() { throw new DOMException("no", "SecurityError"); } }), /keeps nothing here/],
  ["full", () => { Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); }; }, /no more room/],
  ["foreign", () => globalThis.origin !== "null" && (localStorage["lockscope.kept"] ??= "{\"lockscope\":9,\"lessons\":{}}"), /cannot be read .*version 9/],
  ["garbage", () => globalThis.origin !== "null" && localStorage.setItem("lockscope.kept", "\u0000[["), /cannot be read .*character 1/],
]) {
  test(`where storage is ${what} the page goes on and says so`, page(async ({ open }) => {
    const first = await open("", { started: false });
    await first.context().addInitScript(prepare);
    const tab = await first.context().newPage();
    await tab.goto(first.url().replace(/#.*$/, "") + `${LESSON}?event=200`);
    await running(tab);
    await add(tab, "at 5s crash client-b");
    await tab.locator("#keeping", { hasText: words }).waitFor();
    assert.equal((await rows(tab)).length, 2);
    await undo(tab).click();
    assert.deepEqual(await edits(tab), ["pause client-a before write#1 for 12s"]);
    if (what === "foreign") {
      assert.match(await kept(tab), /"lockscope":9/, "it is left as it is");
      await tab.getByRole("button", { name: "Discard it and begin anew" }).click();
      await keeps(tab, "\"lockscope\":1", "crash client-b");
      assert.equal(await tab.locator("#keeping").count(), 0);
    }
  }));
}

for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
  test(`a defence on and off is one press: both pictures, the first difference in both (${viewport.width} px)`, page(async ({ open }) => {
    const tab = await open(`${LESSON}?event=200`, { viewport, hasTouch: viewport.width < 500 });
    const press = (target) => (viewport.width < 500 ? target.tap() : target.click());
    await press(tab.getByRole("button", { name: "Compare on and off: The resource checks the token" }));
    const dialog = tab.getByRole("dialog", { name: "The resource checks the token" });
    await dialog.waitFor();
    assert.match(await dialog.locator("#parting").textContent(), /^Until 13\.25 s both runs are the same\. Then with it: Resource rejects .* Without it: Resource accepts /);
    const sides = dialog.locator(".edge-side");
    assert.match(await sides.nth(0).getByRole("heading").textContent(), /On: Rejected\./);
    assert.match(await sides.nth(1).getByRole("heading").textContent(), /Off: Corrupted\./);
    const boxes = await Promise.all([0, 1].map((i) => sides.nth(i).locator("svg.still").evaluate((svg) => svg.getBoundingClientRect().toJSON())));
    assert.equal(Math.round(boxes[0].height), Math.round(boxes[1].height), "one scale");
    if (viewport.width < 500) assert.ok(boxes[1].top > boxes[0].bottom, "stacked");
    else assert.ok(Math.abs(boxes[1].top - boxes[0].top) < 2 && boxes[1].left > boxes[0].right - 1, "side by side");
    for (const i of [0, 1]) assert.ok(await sides.nth(i).locator("svg text", { hasText: "13.25 s" }).count() > 0, "the moment is marked");
    assert.match(await dialog.locator(".figures").textContent(), /of these, accepted01/);
    await accessible(tab);
    await shot(tab, `compare-${viewport.width}`);
    await press(sides.nth(0).getByRole("button", { name: "Open this run: On" }));
    await dialog.waitFor({ state: "detached" });
    assert.ok((await edits(tab)).includes("set resource.check token"));
  }));
}

test("two branches are compared with keys alone", page(async ({ open }) => {
  const tab = await open(`${LESSON}?event=200`);
  await add(tab, "at 5s crash client-b");
  const row = tab.locator(".branches > ul > li").first();
  await row.locator("summary").focus();
  await tab.keyboard.press("Enter");
  await row.getByRole("button", { name: /^Compare/ }).focus();
  await tab.keyboard.press("Enter");
  const dialog = tab.getByRole("dialog", { name: "Two runs compared" });
  await dialog.waitFor();
  assert.match(await dialog.locator("#parting").textContent(), /Then here, at 5\.00 s: Client B crashes/);
  await tab.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
}));

// ---- Links ---------------------------------------------------------------------------------------------------------

const MADE = "?v=1.1.AAAA.BBBB&event=20&e=KwLMJBDM.AFQwgyDG";

for (const [what, fragment, words] of [
  ["of an older version", `${LESSON}?v=0.3&state=abc`, /version 0, and this page reads version 1.*state=abc/s],
  ["of a newer version", `${LESSON}${MADE.replace("v=1.", "v=7.")}`, /newer edition of Lockscope/],
  ["that was cut off", `${LESSON}${MADE.slice(0, -3)}`, /changed or cut off.*Left out: /s],
  ["with an edit that means nothing", `${LESSON}?edits=at+3s+crush+client-b`, /Left out: “at 3s crush client-b”, character 7/],
  ["to a lesson that does not exist", "#/lesson/no-such-lesson?v=1.1.AAAA.BBBB", /There is no lesson “no-such-lesson” here/],
  ["to no page at all", "#v0;scenario=lease;pause=12", /There is no page “v0;scenario=lease;pause=12”/],
]) {
  test(`a link ${what} is answered in words within two seconds`, page(async ({ open, trouble }) => {
    const tab = await open("", { started: false });
    await tab.goto("about:blank");
    const from = Date.now();
    const base = trouble.requests[0].replace(/[#?].*$/, "");
    await tab.goto(base + fragment, { waitUntil: "commit" });
    await tab.getByRole("alert").filter({ hasText: words }).waitFor();
    const passed = Date.now() - from;
    assert.ok(passed < 2000, `it took ${passed} ms`);
    const lesson = fragment.startsWith(LESSON);
    assert.equal(await tab.locator(".stage").count(), lesson ? 1 : 0);
    if (lesson) {
      await running(tab);
      await accessible(tab);
      await shot(tab, `link-${what.replaceAll(" ", "-")}`);
      await tab.getByRole("button", { name: "Close", exact: true }).click();
      await tab.locator(".about-link").waitFor({ state: "detached" });
    } else {
      await tab.getByRole("link", { name: /Break it in sixty seconds/ }).first().waitFor();
    }
    // The server was asked for a lesson that is not there.
    trouble.errors.length = 0;
  }));
}

test("the address carries twenty edits in three hundred characters and brings the same run", page(async ({ open }) => {
  const tab = await open(`${LESSON}?event=200`);
  for (let n = 1; n < 20; n += 1) await add(tab, `at ${5100 + 37 * n}ms send resource ${n}`);
  await tab.waitForFunction(() => location.hash.includes("&e="));
  await passes(tab, 300);
  const address = new URL(tab.url()).hash;
  assert.ok(address.length <= 300, `${address.length}: ${address}`);
  const other = await open(address);
  assert.deepEqual([await hash(other), await step(other), await edits(other)], [await hash(tab), await step(tab), await edits(tab)]);
  assert.equal(await other.locator(".about-link").count(), 0);
}));

// ---- A hidden tab --------------------------------------------------------------------------------------------------

test("a tab that was hidden for a minute while playing goes on where it stopped", page(async ({ open }) => {
  const tab = await open(LESSON);
  const run = await hash(tab);
  await tab.getByRole("button", { name: "Settings" }).click();
  await tab.getByRole("switch", { name: "Stop at beats" }).click();
  await tab.keyboard.press("Escape");
  await tab.getByRole("dialog").waitFor({ state: "detached" });
  // A hidden tab draws no frames, and its clock goes on: the next frame comes a minute later.
  await tab.evaluate(() => {
    const real = globalThis.requestAnimationFrame.bind(globalThis);
    const state = { hidden: false, ahead: 0, waiting: [] };
    globalThis.hide = () => { state.hidden = true; };
    globalThis.comeBack = () => {
      state.hidden = false;
      state.ahead += 60_000;
      state.waiting.splice(0).forEach((call) => real((now) => call(now + state.ahead)));
    };
    globalThis.requestAnimationFrame = (call) => {
      if (!state.hidden) return real((now) => call(now + state.ahead));
      state.waiting.push(call);
      return 0;
    };
  });
  const at = () => tab.locator(".scrubber input").evaluate((range) => range.valueAsNumber);
  await tab.getByRole("button", { name: "Play", exact: true }).click();
  await tab.waitForFunction(() => document.querySelector(".scrubber input").valueAsNumber > 100_000);
  await tab.evaluate(() => globalThis.hide());
  await tab.waitForTimeout(200);
  const before = [await at(), await step(tab)];
  await tab.waitForTimeout(300);
  assert.deepEqual([await at(), await step(tab)], before, "nothing moves while it is hidden");
  const moments = await tab.evaluate(() => new Promise((resolve) => {
    const seen = [];
    globalThis.comeBack();
    const look = () => {
      seen.push(document.querySelector(".scrubber input").valueAsNumber);
      if (seen.length < 4) setTimeout(look, 40);
      else resolve(seen);
    };
    setTimeout(look, 20);
  }));
  assert.ok(moments.at(-1) > before[0], `it goes on: ${moments}`);
  assert.ok(moments.at(-1) - before[0] < 3_000_000, `it does not jump: ${before[0]} to ${moments}`);
  assert.equal(await hash(tab), run);
  await tab.keyboard.press("Space");
}));
