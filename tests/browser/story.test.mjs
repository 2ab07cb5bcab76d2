// The column of the story, the bar, and what a phone shows first: room where it is needed, and a story in its place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, focusIs, page, passes, shot, unfold } from "./lib.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const LONGEST = "#/lesson/renewal-is-not-ownership";

const lesson = async (open, hash, options) => {
  const tab = await open(hash, options);
  await tab.locator("#stage").waitFor();
  return tab;
};
const button = (tab, name) => tab.getByRole("button", { name, exact: true });
const heard = (tab) => tab.locator("#said").innerText();
const next = (tab) => tab.locator(".story .turns button").last();

test("the scrubber is the widest thing of the bar; what is known is whole, the log has its lines", page(async ({ open }) => {
  for (const [event, height] of [[60, 800], [105, 800], [26, 720]]) {
    const tab = await lesson(open, `${LONGEST}?event=${event}`, { viewport: { width: 1280, height } });
    const found = await tab.evaluate(() => {
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const knows = document.querySelector("#knows");
      return {
        scrubber: box(".scrubber").width,
        others: [...document.querySelectorAll(".controls > :not(.scrubber)")].map((e) => e.getBoundingClientRect().width),
        cut: knows.scrollHeight - knows.clientHeight,
        log: box("#log").height,
        over: box("#log").bottom - box("#transport").top,
        readout: document.querySelector(".readout").innerText,
      };
    });
    assert.ok(found.scrubber >= 380, `${found.scrubber} px`);
    assert.ok(Math.max(...found.others) < found.scrubber, found.others.join(", "));
    assert.equal(found.cut, 0, "nothing of what is known is cut");
    assert.ok(found.log >= (height === 800 ? 5 : 3) * 20, `${found.log} px of log`);
    assert.ok(height < 800 || found.over <= 0, `the log ends ${found.over} px below the bar`);
    assert.doesNotMatch(found.readout, /·\s*$|·\s*\d/);
    await shot(tab, `bar-${event}-${height}`);
  }
}));

test("of a long program the line that it is at is in sight, a short one is shown whole", page(async ({ open }) => {
  const inSight = (tab) => tab.evaluate(() => {
    const box = document.querySelector("#program").getBoundingClientRect();
    return [...document.querySelectorAll("#program .program:first-of-type li")].map((li) => {
      const line = li.getBoundingClientRect();
      return [li.matches(".current"), line.top >= box.top - 1 && line.bottom <= box.bottom + 1];
    });
  });
  const long = await lesson(open, `${LONGEST}?event=60`);
  await passes(long, 100);
  const lines = (await inSight(long)).filter(([current]) => current);
  assert.ok(lines.some(([, seen]) => seen), "the line that it is at");
  const short = await lesson(open, "#/lesson/lease-expiration?event=60");
  assert.ok((await inSight(short)).every(([, seen]) => seen), "all five lines");
}));

test("other runs and every pause wait folded, a key away, and keep the focus", page(async ({ open }) => {
  const tab = await lesson(open, LONGEST);
  assert.equal(await tab.locator("#prove").isVisible(), false);
  for (const id of ["runs", "pauses"]) {
    await tab.locator(`#${id} > summary`).focus();
    await tab.keyboard.press("Enter");
    assert.ok(await tab.locator(`#${id}`).evaluate((d) => d.open && d.firstElementChild === document.activeElement));
  }
  assert.ok(await tab.locator("#prove").isVisible());
  assert.ok(await tab.getByRole("combobox", { name: "Run" }).isVisible());
  await accessible(tab);
  await shot(tab, "folds");
}));

test("the story that is only read leaves no branches; one's own run is counted", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/efficiency-or-correctness");
  for (let i = 0; i < 16; i++) await next(tab).click();
  const title = tab.locator("#runs > summary");
  assert.equal(await title.innerText(), "Other runs, and your branches");
  await tab.locator("#edit").fill("at 1s pause client-b for 2s");
  await tab.keyboard.press("Enter");
  await tab.waitForFunction(() => document.querySelector("#runs > summary").innerText.endsWith("· 1"));
}));

test("a question stands in its place; the look at the resource is said, leaves the way, and can be skipped", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/fencing-tokens");
  for (let i = 0; i < 9 && !(await tab.locator("#predict form").isVisible()); i++) await next(tab).click();
  await tab.locator("#predict input[name=answer]").first().check();
  await button(tab, "Commit").click();
  for (let i = 0; i < 40 && !(await button(tab, "Tell me").isVisible()); i++) {
    await tab.keyboard.press("ArrowRight");
    await tab.waitForTimeout(40);
  }
  assert.equal(await tab.locator("#app h1").count(), 1);
  await tab.waitForFunction(() => document.querySelector("#said").textContent.endsWith("What happened at the resource?"));
  assert.match(await heard(tab), /Resource/);
  assert.deepEqual(await tab.locator(".story .turns button").allInnerTexts().then((t) => t[0]), "Previous");
  await accessible(tab);
  await shot(tab, "look");
  await button(tab, "Tell me").press("Enter");
  await focusIs(tab, "predict-title");
  await tab.locator("#predict").getByText(/^The run:/).waitFor();
  await tab.locator(".story .prose p").first().waitFor();
}));

test("at its last part the story leads to its end, and from there to what to take along", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/lease-expiration");
  for (let i = 0; i < 30 && (await next(tab).innerText()) !== "To take along"; i++) await next(tab).click();
  await tab.locator(".words").evaluate((words) => { words.scrollTop = 0; });
  await next(tab).click();
  await tab.waitForFunction(() => {
    const [card, box] = ["#closing", ".words"].map((s) => document.querySelector(s).getBoundingClientRect());
    return card.top >= box.top - 1 && card.top < box.bottom;
  });
  assert.equal(await next(tab).getAttribute("aria-disabled"), null);
}));

test("a phone begins with the story beside the picture, and every tab has its heading", page(async ({ open }) => {
  const tab = await lesson(open, LONGEST, PHONE);
  const lead = tab.locator(".lead-in");
  assert.match(await lead.innerText(), /Renewal is not ownership\s+Renewed one second ago\./);
  const places = await tab.evaluate(() => [".lead-in", ".stage", "#transport"].map((s) => document.querySelector(s).getBoundingClientRect())
    .map(({ top, bottom, height }) => ({ top, bottom, height })));
  assert.ok(places[0].top < 80 && places[0].bottom <= places[1].top + 1, "the words stand above the picture");
  assert.ok(places[1].height >= 440, `the picture has ${places[1].height} px`);
  assert.ok(places[2].bottom <= 844.5 && places[2].height < 120, "the transport is at the bottom");
  await tab.getByRole("button", { name: "Step size and speed" }).tap();
  await tab.getByRole("button", { name: "Beat", exact: true }).tap();
  await accessible(tab);
  await shot(tab, "phone-tools");
  await tab.keyboard.press("Escape");
  await button(tab, "Step forward").tap();
  await tab.waitForFunction(() => document.querySelector(".lead-in strong").innerText === "The heart beats");
  for (const name of ["Knows", "Program", "What happened", "Story"]) {
    await tab.getByRole("tab", { name }).tap();
    assert.equal(await tab.locator("#app h1").count(), 1, name);
  }
  await accessible(tab);
  await shot(tab, "phone-story");
}));

test("the start page numbers its lessons, begins in one way, and leads to the cases", page(async ({ open }) => {
  const tab = await open("");
  assert.match(await tab.locator(".cards li").first().innerText(), /Lesson 1 · 3 min/);
  assert.ok(await tab.locator(".cards").first().evaluate((list) =>
    list.compareDocumentPosition(document.querySelector(".paths")) & Node.DOCUMENT_POSITION_FOLLOWING), "shorter ways come after the list");
  await tab.locator("#home nav").getByRole("link", { name: "It happened" }).click();
  await focusIs(tab, "cases-title");
  assert.equal(await tab.locator("#unknown").isVisible(), false);
  await tab.locator("#home nav").getByRole("link", { name: "Lessons" }).click();
  await tab.waitForFunction(() => scrollY === 0);
  const one = await lesson(open, "#/lesson/fencing-tokens");
  assert.equal(await one.locator(".kicker").innerText(), "Lesson 6 · 6 min");
  await next(one).click();
  assert.equal(await one.locator(".kicker").innerText(), "Lesson 6 · Fencing tokens · 6 min");
  await one.locator("header nav").getByRole("link", { name: "It happened" }).click();
  await focusIs(one, "cases-title");
}));

test("each Next shows what led to its moment, also where it goes on in another run; nothing lies beside the picture", page(async ({ open }) => {
  for (const [id, beats] of [["zookeeper-recipe", 11], ["herd", 9]]) {
    const tab = await lesson(open, `#/lesson/${id}`, { viewport: { width: 1280, height: 800 } });
    for (let beat = 1; beat <= beats; beat += 1) {
      await next(tab).click();
      await tab.waitForTimeout(250);
      const seen = await tab.evaluate(() => {
        const box = document.querySelector("#stage");
        const now = document.querySelector("#stage .now rect").getBoundingClientRect();
        const { top, height } = box.getBoundingClientRect();
        const { scrollTop, scrollWidth, clientWidth } = box;
        return { share: (now.top - top) / height, scrollTop, wide: scrollWidth - clientWidth };
      });
      const where = `${id}, ${beat}: ${JSON.stringify(seen)}`;
      assert.ok(seen.scrollTop === 0 || seen.share > 0.28, where);
      assert.ok(seen.share < 0.95, where);
      assert.ok(seen.wide <= 0, where);
    }
  }
}));
