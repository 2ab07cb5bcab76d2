// What is read and what is seen while the story goes on: words at their beginning, a picture in sight, a focus that stays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { page, shot } from "./lib.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const lesson = async (open, hash, options) => {
  const tab = await open(hash, options);
  await tab.locator("#stage").waitFor();
  return tab;
};
const button = (tab, name) => tab.getByRole("button", { name, exact: true });
const commit = async (tab) => {
  await tab.locator("#predict input[name=answer]").first().check();
  await button(tab, "Commit").click();
};
const box = (tab, selector) => tab.locator(selector).evaluate((e) => {
  const { top, bottom } = e.getBoundingClientRect();
  return { top, bottom };
});

test("where playing stops for the story, its words are in sight, whatever was read before", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/break-it");
  const stopped = (words) => tab.locator("#verdict").getByText(words).waitFor({ timeout: 20_000 });
  for (let i = 0; i < 9 && !(await tab.locator("#predict form").isVisible()); i++) {
    await tab.keyboard.press("Space");
    await stopped(/^Stopped/);
    await tab.waitForTimeout(100);
  }
  await commit(tab);
  await tab.locator("#words").evaluate((words) => { words.scrollTop = 400; });
  await tab.keyboard.press("Space");
  await stopped("Stopped for the story");
  await tab.waitForFunction(() => document.querySelector("#words").scrollTop === 0);
  const [title, column] = [await box(tab, ".story h1"), await box(tab, "#words")];
  assert.ok(title.top >= column.top && title.bottom < column.bottom);
  await shot(tab, "flow-story");
  // The same where it is turned to by its own button.
  await tab.locator("#words").evaluate((words) => { words.scrollTop = 65; });
  await tab.locator(".story .turns button").last().click();
  await tab.waitForFunction(() => document.querySelector("#words").scrollTop === 0);
}));

test("whoever breaks something by keys alone has the focus on the picture afterwards", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/break-it?event=9");
  await tab.evaluate(() => document.activeElement.blur());
  await tab.keyboard.press("i");
  await button(tab, "Pause now").click();
  await tab.waitForFunction(() => document.activeElement.id === "stage");
}));

test("on a phone the picture comes into sight when it plays, and no verdict moves the tabs away", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/lease-expiration", PHONE);
  await tab.locator("#verdict").scrollIntoViewIfNeeded();
  await tab.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await button(tab, "Play").tap();
  await tab.waitForFunction(() => {
    const { top, bottom } = document.querySelector("#stage").getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
  const ended = await lesson(open, "#/lesson/fencing-tokens", PHONE);
  await ended.keyboard.press("End");
  await ended.locator("#verdict").getByText("Corrupted.").waitFor();
  const places = () => ended.evaluate(() => {
    const rect = (selector) => document.querySelector(selector).getBoundingClientRect();
    const lines = document.querySelector("#verdict > span");
    return {
      under: rect(".tablist").bottom - rect("#transport").top,
      lines: lines.clientHeight / parseFloat(getComputedStyle(lines).lineHeight),
    };
  });
  const { under, lines } = await places();
  await shot(ended, "flow-phone-verdict");
  assert.ok(under <= 1, `the tabs are ${under} px under the bar`);
  assert.ok(lines < 3.1, `${lines} lines`);
}));

test("why is answered at the very end, with the focus on the scrubber too", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/break-it");
  await tab.locator(".scrubber input").focus();
  await tab.keyboard.press("End");
  await tab.keyboard.press("w");
  await tab.locator("#why").waitFor();
}));
