// Sorting cards: with the keyboard alone, by touch, on paper; and the lessons of the second stage for axe-core.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, focusIs, page, shot } from "./lib.mjs";

const SORT = "#/lesson/efficiency-or-correctness";
const LESSONS = ["why-a-mutex-does-not-stretch", "efficiency-or-correctness", "ask-the-resource"];
const TEACHERS = LESSONS.flatMap((id) => [`lessons/${id}.html`, `lessons/${id}-teacher.html`]);
const button = (tab, name) => tab.getByRole("button", { name, exact: true });
const card = (tab) => tab.getByRole("region", { name: /^Card \d+ of 12$/ });
const hash = (tab) => tab.locator(".stage").getAttribute("data-run-hash");

test("twelve cards are sorted with the keyboard alone, each answered by a run", page(async ({ open }) => {
  const tab = await open(SORT);
  await card(tab).waitFor();
  const runs = new Set();
  for (let number = 1; number <= 12; number += 1) {
    await card(tab).getByText(`Card ${number} of 12`).waitFor();
    // Everybody says wasteful: half of the runs will say otherwise.
    await button(tab, "Only wasteful").focus();
    await tab.keyboard.press("Enter");
    await focusIs(tab, "cards-title");
    await card(tab).getByText(/^You said “only wasteful”.* [Rr]un twice/).waitFor();
    runs.add(await tab.locator("#verdict").innerText());
    if (number === 12) break;
    // From the card's title, the way to the next card is a few presses of the same key.
    let presses = 0;
    while (!(await button(tab, "Next card").evaluate((b) => b === document.activeElement))) {
      await tab.keyboard.press("Tab");
      assert.ok((presses += 1) <= 3, "the next card is near");
    }
    await tab.keyboard.press("Enter");
  }
  assert.ok(runs.size >= 10, `the verdicts of ${runs.size} runs differ`);
  const words = await card(tab).innerText();
  assert.match(words, /Of 12 runs, 6 say what you said\./);
  assert.match(words, /If the work is done twice, that does no harm\./);
  assert.doesNotMatch(words, /incorrect/i);
  await shot(tab, "cards-sorted");
  await accessible(tab);

  // A card leads back to its run, and the story waits where it was left.
  const last = await hash(tab);
  await button(tab, "Account").click();
  await focusIs(tab, "cards-title");
  assert.notEqual(await hash(tab), last);
  await button(tab, "Back to the story").click();
  await button(tab, "Begin").waitFor();
  assert.equal(await tab.getByText("its run says otherwise").count(), 6);
}));

test("cards are sorted by touch, and the page keeps within the screen", page(async ({ open }) => {
  const viewport = { width: 390, height: 844 };
  const tab = await open(SORT, { viewport, hasTouch: true, isMobile: true, colorScheme: "dark" });
  await button(tab, "Wrong").tap();
  await card(tab).getByText(/^You said “wrong”.* [Rr]un twice/).waitFor();
  await button(tab, "Next card").tap();
  await card(tab).getByText("Card 2 of 12").waitFor();
  await button(tab, "Wrong").tap();
  await card(tab).getByText("what has to hold no longer does", { exact: false }).waitFor();
  const over = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${over} px too wide`);
  await shot(tab, "cards-phone");
  await accessible(tab);
}));

test("before a class the cards come after the story, one after the other, and the story is there again", page(async ({ open }) => {
  const tab = await open("#/lesson/efficiency-or-correctness?present=1", { viewport: { width: 1280, height: 720 } });
  await tab.locator(".wall").waitFor();
  const sort = tab.locator(".wall .sort");
  for (let turn = 0; turn < 60 && !(await sort.isVisible()); turn += 1) {
    await tab.keyboard.press("PageDown");
    await tab.waitForTimeout(60);
  }
  await sort.getByText("Card 1 of 12").waitFor();
  await sort.getByRole("button", { name: "Wrong", exact: true }).click();
  await sort.getByText(/^You said “wrong”/).waitFor();
  await accessible(tab);
  await shot(tab, "cards-wall");
  await tab.keyboard.press("PageDown");
  await sort.getByText("Card 2 of 12").waitFor();
  await tab.keyboard.press("PageUp");
  await tab.keyboard.press("PageUp");
  await sort.waitFor({ state: "detached" });
}));

test("the new lessons have no accessibility violations, in words, in tasks, and at their ends", page(async ({ open }) => {
  for (const id of LESSONS) {
    for (const rest of ["", "?level=challenge", "?event=400"]) {
      const tab = await open(`#/lesson/${id}${rest}`);
      await tab.locator(".stage").waitFor();
      await accessible(tab);
    }
  }
  for (const path of TEACHERS) {
    const tab = await open(path, { started: false });
    await accessible(tab, { rules: { "target-size": { enabled: true } } });
  }
}));

test("on paper the cards are a page to cut up, and the answers are on another", page(async ({ open }) => {
  const tab = await open("lessons/efficiency-or-correctness.html", { started: false });
  assert.equal(await tab.locator(".cut").filter({ visible: true }).count(), 0);
  await tab.emulateMedia({ media: "print" });
  assert.equal(await tab.locator(".cut").filter({ visible: true }).count(), 12);
  const [cards, answers] = await tab.evaluate(() =>
    [".cuts", ".trays-table"].map((name) => document.querySelector(name).closest(".leaf").innerText));
  assert.doesNotMatch(cards, /put right/);
  assert.match(answers, /Nobody|nothing has to be put right/);
}));
