// A debate, claim by claim, and a label that a design has to earn: with the keyboard alone, by touch, before a class, on
// paper; and for axe-core.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, focusIs, page, shot } from "./lib.mjs";

const FIRE = "#/lesson/redlock-under-fire";
const button = (tab, name) => tab.getByRole("button", { name, exact: true });
const point = (tab) => tab.locator(".hearing");
const pinning = (tab) => tab.locator("#pinning");
const hash = (tab) => tab.locator(".stage").getAttribute("data-run-hash");

/** Presses a button with the keyboard, wherever the focus is. */
async function press(tab, found) {
  await found.focus();
  await tab.keyboard.press("Enter");
}

test("all thirteen points are heard with the keyboard alone, each with its runs", page(async ({ open }) => {
  const tab = await open(FIRE);
  await press(tab, button(tab, "K1: A pause longer than the lock"));
  const runs = new Set();
  const told = [];
  for (let number = 1; number <= 13; number += 1) {
    await focusIs(tab, "point-title");
    told.push((await tab.locator("#point-title").innerText()).split(" ")[0]);
    for (const run of await point(tab).locator(".shown .link").all()) {
      await press(tab, run);
      await point(tab).locator(".shown [aria-pressed=true]").filter({ hasText: await run.innerText() }).waitFor();
      assert.match(await point(tab).locator(".figures-of").innerText(), /^Promises broken \d · outlived \d · granted twice \d\. .+\.$/);
      runs.add(await hash(tab));
    }
    if (number === 13) break;
    await press(tab, button(tab, "Next point"));
    await tab.locator("#point-title").filter({ hasNotText: `${told.at(-1)} ` }).waitFor();
  }
  assert.deepEqual(told, ["K1", "K2", "K3", "K4", "K5", "K6", "K7", "K8", "R1", "R2", "R3", "R4", "R5"]);
  assert.ok(runs.size >= 18, `${runs.size} runs differ`);
  await accessible(tab);
  // From an answer to what it answers, and back to the story.
  await press(tab, button(tab, "K5: A master forgets").first());
  await tab.locator("#point-title").filter({ hasText: "K5" }).waitFor();
  await shot(tab, "debate-point");
  // What the learner changes in its run, its figures follow.
  await press(tab, tab.getByRole("switch", { name: "Masters write before they answer" }));
  await point(tab).getByText("With your changes: Promises broken 0 · outlived 0 · granted twice 0. Nothing is wrong.").waitFor();
  await press(tab, button(tab, "Back to the story"));
  await button(tab, "Begin").waitFor();
}));

test("all claims stand side by side, and each of their runs is one press away", page(async ({ open }) => {
  const tab = await open(FIRE);
  await press(tab, button(tab, "All claims side by side, and what comes of it"));
  const table = tab.getByRole("dialog");
  await table.getByRole("columnheader", { name: "Martin Kleppmann" }).waitFor();
  await accessible(tab);
  await shot(tab, "debate-table");
  assert.equal(await table.locator(".point").count(), 13);
  assert.match(await table.locator(".rulings").innerText(), /A clock is set[\s\S]*Something is wrong\.[\s\S]*Done twice, and nothing is wrong\./);
  await press(tab, table.locator("[data-run=asleep]").first());
  await table.waitFor({ state: "detached" });
  await tab.locator("#point-title").filter({ hasText: "K6" }).waitFor();
  assert.match(await tab.locator("#verdict").innerText(), /Corrupted/);
  // A run of the verdict belongs to no point.
  await press(tab, button(tab, "All claims side by side, and what comes of it"));
  await press(tab, table.locator(".rulings [data-run=mail]"));
  await table.waitFor({ state: "detached" });
  assert.equal(await point(tab).count(), 0);
}));

test("the label falls off a design without a check at the resource, and the attack that broke it is one press away", page(async ({ open }) => {
  const tab = await open(FIRE);
  const said = [];
  await tab.exposeFunction("heard", (words) => said.push(words));
  await tab.evaluate(() => {
    const region = document.getElementById("said");
    new MutationObserver(() => window.heard(region.textContent)).observe(region, { childList: true, characterData: true, subtree: true });
  });
  assert.match(await pinning(tab).innerText(), /not pinned/);
  const safe = (name) => tab.getByRole("switch", { name });
  for (const name of ["Masters write before they answer", "A restarted master stays out for 31 s", "A and B read boot time", "A lock lasts 30 s"]) {
    await safe(name).focus();
    await tab.keyboard.press("Space");
  }
  await press(tab, button(tab, "Pin the label “correctness-safe”"));
  await pinning(tab).getByText(/fell off: 3 of 6 attacks did harm/).waitFor();
  await accessible(tab);
  await shot(tab, "label-fallen");
  await press(tab, pinning(tab).getByRole("button", { name: "See the run: Paused after the look" }));
  await tab.locator("#verdict").getByText("Corrupted.").waitFor();
  assert.match(await pinning(tab).innerText(), /fell off/, "the label is still of this design");
  await safe("The resource compares versions").focus();
  await tab.keyboard.press("Space");
  await pinning(tab).getByText("not pinned").waitFor();
  await press(tab, button(tab, "Pin the label “correctness-safe”"));
  await pinning(tab).getByText(/stays: none of the 6 attacks did harm.*no proof/).waitFor();
  await shot(tab, "label-stays");
  await tab.waitForTimeout(2500);
  assert.ok(said.some((words) => /fell off: 3 of 6/.test(words)), `it is announced: ${said.join(" | ")}`);
  assert.ok(said.some((words) => /stays: none of the 6/.test(words)), `it is announced: ${said.join(" | ")}`);
}));

test("a debate and a label are there for a finger on a phone, and the page keeps within the screen", page(async ({ open }) => {
  const viewport = { width: 390, height: 844 };
  const tab = await open(FIRE, { viewport, hasTouch: true, isMobile: true, colorScheme: "dark" });
  const within = async () => {
    const over = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${over} px too wide`);
  };
  await button(tab, "K4: A clock leaps").tap();
  await tab.locator("#point-title").filter({ hasText: "K4" }).waitFor();
  await within();
  await accessible(tab);
  await button(tab, "All claims side by side, and what comes of it").tap();
  await tab.getByRole("dialog").waitFor();
  await within();
  await accessible(tab);
  await shot(tab, "debate-phone");
  await tab.getByRole("dialog").getByRole("button", { name: "Close" }).tap();
  await button(tab, "Pin the label “correctness-safe”").tap();
  await pinning(tab).getByText(/fell off/).last().waitFor();
  await within();
  await shot(tab, "label-phone");
}));

test("before a class the points come after the story, each with its run on the wall", page(async ({ open }) => {
  const tab = await open(`${FIRE}?present=1`, { viewport: { width: 1280, height: 720 } });
  const title = tab.locator(".wall h1").first();
  await title.waitFor();
  for (let turn = 0; turn < 60 && !/^K1 /.test(await title.innerText()); turn += 1) {
    await tab.keyboard.press("PageDown");
    await tab.waitForTimeout(60);
  }
  await title.filter({ hasText: "K1 · A pause longer than the lock" }).waitFor();
  await accessible(tab);
  await shot(tab, "debate-wall");
  for (const id of ["K2", "K3", "K4"]) {
    await tab.keyboard.press("PageDown");
    await title.filter({ hasText: id }).waitFor();
  }
  // A long verdict takes its room from the picture, and what decided it stays in sight.
  await tab.waitForFunction(() => {
    const [stage, now] = ["#stage", "#stage .now"].map((name) => document.querySelector(name).getBoundingClientRect());
    return now.bottom <= stage.bottom && now.top >= stage.top;
  });
  await tab.keyboard.press("PageUp");
  await tab.keyboard.press("PageUp");
  await tab.keyboard.press("PageUp");
  await tab.keyboard.press("PageUp");
  await title.filter({ hasNotText: /^K\d/ }).waitFor();
}));

test("on paper the debate is a table, and so are designs against attacks; without a program, too", page(async ({ open }) => {
  for (const path of ["lessons/redlock-under-fire.html", "lessons/redlock-under-fire-teacher.html"]) {
    const tab = await open(path, { started: false });
    assert.equal(await tab.locator(".claims .point").count(), 13);
    assert.match(await tab.locator(".pinned").innerText(), /All but “The resource compares versions”[\s\S]*falls off[\s\S]*All of these[\s\S]*stays/);
    await accessible(tab, { rules: { "target-size": { enabled: true } } });
  }
  const tab = await open(FIRE);
  await tab.locator(".stage").waitFor();
  assert.equal(await tab.locator(".claims").count(), 0);
  await tab.emulateMedia({ media: "print" });
  await tab.locator(".handout .pinned").waitFor();
  assert.equal(await tab.locator(".handout .claims button, .handout .claims a").count(), 0, "paper leads nowhere");
}));
