// Looking: why something happened, what is selected, one node's eyes, the topology; by keys alone and by touch alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, focusIs, page, shot } from "./lib.mjs";

const RACE = "#/lesson/lease-expiration?run=fixed&event=200";
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const lesson = async (open, hash, options) => {
  const tab = await open(hash, options);
  await tab.locator("#stage").waitFor();
  return tab;
};
const button = (tab, name) => tab.getByRole("button", { name, exact: true });
const heard = (tab) => tab.locator("#said").innerText();
const hears = (tab, words) =>
  tab.waitForFunction((text) => document.querySelector("#said").textContent.includes(text), words);
const sideways = (tab) => tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);

test("by keys alone: why a write was rejected, each step of the answer, and back", page(async ({ open }) => {
  const tab = await lesson(open, RACE);
  await tab.locator("#stage").focus();
  // Back to the rejection, then why.
  for (let step = 0; step < 12 && !(await heard(tab)).includes("rejects"); step++) {
    await tab.keyboard.press("Shift+ArrowLeft");
    await tab.waitForTimeout(60);
  }
  await tab.keyboard.press("w");
  const steps = tab.locator("#why ol button");
  await steps.first().waitFor();
  await hears(tab, "How it came about");
  const told = await steps.allInnerTexts();
  assert.ok(told.length >= 5 && told.length <= 12, told.join("\n"));
  for (const part of ["asks for the lock", "paused", "expires", "generation 42", "token 41"]) {
    assert.ok(told.some((line) => line.includes(part)), `${part} in ${told.join("\n")}`);
  }
  await tab.locator("#why").getByText("It would have passed with token 42 or a higher one").waitFor();
  const lit = await tab.locator(".picture [data-event].lit").count();
  assert.ok(lit > 5, `${lit} marks are lit`);
  assert.ok((await tab.locator(".picture.dims").count()) === 1);
  await accessible(tab);
  await shot(tab, "why");
  // Each step is a button that selects its event everywhere.
  await steps.nth(1).focus();
  await tab.keyboard.press("Enter");
  await hears(tab, "Selected:");
  assert.equal(await steps.nth(1).getAttribute("aria-current"), "true");
  // Escape lets go of all of it, and the focus is somewhere.
  await tab.keyboard.press("Escape");
  await tab.locator("#why").waitFor({ state: "detached" });
  assert.equal(await tab.locator(".picture .lit").count(), 0);
  assert.notEqual(await tab.evaluate(() => document.activeElement.tagName), "BODY");
}));

test("by touch alone: a tap on the picture selects it everywhere, and asks why", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/lease-expiration?event=45", PHONE);
  const box = await tab.locator(".picture text", { hasText: /expires/ }).first().boundingBox();
  await tab.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  const chosen = tab.locator(".chosen");
  await chosen.getByText("expires").waitFor();
  assert.ok((await tab.locator(".picture .lit").count()) > 0);
  await chosen.getByRole("button", { name: "Why?" }).tap();
  await tab.locator("#why ol button").first().waitFor();
  assert.ok((await sideways(tab)) <= 0);
  await accessible(tab);
  await shot(tab, "why-phone");
  await chosen.getByRole("button", { name: "Clear" }).tap();
  await chosen.waitFor({ state: "detached" });
}));

test("what a waiting client waits for is one sentence, with the way to what decides it", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/lease-expiration?event=29");
  await tab.locator(".segments.small").getByRole("button", { name: "Client B" }).click();
  await button(tab, "Why not?").click();
  await tab.locator("#why").getByText(/its lease must end, by the clock of Lock service at/).waitFor();
  await button(tab, "What decides it in this run").click();
  await tab.locator(".chosen").getByText("asks for the lock again").waitFor();
}));

test("a line of a program and a name of the inspector select what they stand for", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/lease-expiration?event=200");
  await tab.locator(".program").getByRole("button", { name: /^read/ }).click();
  await tab.locator(".chosen").getByText("sends a read").waitFor();
  assert.equal(await tab.locator(".program li.lit").count(), 1);
  await tab.locator(".knows").getByRole("button", { name: "Resource" }).click();
  await hears(tab, "Resource");
  assert.equal(await tab.locator(".lane.selected").getAttribute("aria-label").then((l) => l.startsWith("Resource")), true);
}));

test("through the eyes of A there is nothing of B, of pauses and of verdicts; the fog lifts again", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/lease-expiration?event=200");
  await tab.locator("#stage").focus();
  await tab.keyboard.press("s");
  await hears(tab, "You see what Client A sees");
  const page = await tab.locator("#lesson").innerText();
  for (const word of ["Corrupted", "paused", "Client B's", "does not know", "late"]) {
    assert.ok(!page.includes(word), `${word} is in ${page}`);
  }
  assert.equal(await tab.locator(".knows tbody").count(), 1);
  await tab.locator("#log").getByText("Client A sends write balance = 90 with token 41.").waitFor();
  await accessible(tab);
  await shot(tab, "eyes");
  // A step goes to what A sees next, and is told by its clock.
  await tab.keyboard.press("Home");
  await tab.keyboard.press("ArrowRight");
  await tab.keyboard.press("ArrowRight");
  assert.match(await heard(tab), /^\d+\.\d+ s\. /);
  // The eyes are in the address: a reload and a link bring them back.
  await tab.waitForFunction(() => location.hash.includes("view=as-client-a"));
  const same = await lesson(open, await tab.evaluate(() => location.hash));
  await same.getByRole("img", { name: /^What Client A has seen/ }).waitFor();
  await tab.keyboard.press("Escape");
  await hears(tab, "The fog is lifted");
  await tab.locator(".picture [data-event]").first().waitFor();
  await focusIs(tab, "stage");
}));

test("slow and dead are one picture to B", page(async ({ open }) => {
  const texts = [];
  for (const edit of ["pause+client-a+before+write%231+for+12s", "at+1200ms+crash+client-a"]) {
    const tab = await lesson(open, `#/lesson/lease-expiration?edits=${edit}&event=300`);
    await tab.locator("#stage").focus();
    await tab.keyboard.press("]");
    await tab.keyboard.press("s");
    await hears(tab, "You see what Client B sees");
    const picture = tab.locator(".picture.eyes");
    texts.push([await picture.innerHTML().then((html) => html.replaceAll(/ data-event="\d+"/g, "")), await tab.locator("#log").innerText()]);
  }
  assert.deepEqual(texts[0], texts[1]);
}));

test("the topology is one key away, in the address, and fits a phone", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/lease-expiration?event=60");
  await tab.locator("#stage").focus();
  await tab.keyboard.press("v");
  await tab.getByRole("img", { name: /^Topology, step/ }).waitFor();
  await tab.waitForFunction(() => location.hash.includes("view=topology"));
  await accessible(tab);
  await shot(tab, "topology");
  for (const options of [PHONE, { viewport: { width: 390, height: 844 }, colorScheme: "dark" }]) {
    const phone = await lesson(open, await tab.evaluate(() => location.hash), options);
    await phone.getByRole("img", { name: /^Topology, step/ }).waitFor();
    assert.ok((await sideways(phone)) <= 0);
    const box = phone.locator("#stage");
    assert.ok(await box.evaluate((b) => b.scrollWidth <= b.clientWidth + 1), "nothing scrolls sideways in it either");
    await accessible(phone);
    await shot(phone, `topology-phone-${options.colorScheme ?? "light"}`);
    await phone.getByRole("button", { name: /^Client B: break it/ }).click();
    await phone.getByRole("dialog").waitFor();
  }
  await tab.keyboard.press("v");
  await tab.getByRole("img", { name: /^Space-time diagram/ }).waitFor();
  // A plane that is higher than its box begins at its top.
  const servers = await lesson(open, "#/lesson/herd?event=300&view=topology");
  await servers.getByRole("img", { name: /^Topology, step/ }).waitFor();
  const high = (b) => [b.scrollTop, b.scrollHeight > b.clientHeight];
  assert.deepEqual(await servers.locator("#stage").evaluate(high), [0, true]);
}));

test("what a real server answered is one click away from the answer", page(async ({ open }) => {
  const tab = await lesson(open, "#/lesson/one-redis?event=30");
  const box = await tab.locator(".picture text", { hasText: "OK" }).first().boundingBox();
  await tab.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const badge = tab.locator(".chosen .badge").first();
  await badge.waitFor();
  assert.match(await badge.innerText(), /^recorded/);
  assert.match(await tab.locator(".entries .lit .grounds").innerText(), /SET NX PX/);
  const window = tab.context().waitForEvent("page");
  await badge.focus();
  await tab.keyboard.press("Enter");
  const evidence = await window;
  await evidence.waitForLoadState();
  const step = evidence.locator("tr:target");
  assert.match(await step.innerText(), /SET lock A NX PX 5000[\s\S]*OK[\s\S]*the same/);
  await accessible(evidence);
  await evidence.getByRole("link", { name: "All recordings and rules" }).click();
  await evidence.getByRole("heading", { level: 1, name: "What real servers answered" }).waitFor();
  await accessible(evidence);
  await evidence.locator("summary", { hasText: "Five masters" }).click();
  await evidence.getByRole("link", { name: "Clock jump", exact: true }).click();
  await evidence.getByRole("heading", { level: 1, name: "Clock jump" }).waitFor();
}));
