// A lesson on paper, and as a page that needs neither the program nor scripts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, page, shot } from "./lib.mjs";

const LESSONS = ["break-it", "lease-expiration", "fencing-tokens"];
const PAGES = LESSONS.flatMap((id) => [`lessons/${id}.html`, `lessons/${id}-teacher.html`]);
const still = { javaScriptEnabled: false, started: false };

/** Opens a page of the site by its path; `open` takes what stands behind the address of the start page. */
const read = (open, path, options = {}) => open(path, { started: false, ...options });

/** What is laid out at all, by class or tag. */
const shown = (tab, selector) => tab.locator(selector).filter({ visible: true });

test("each lesson can be read without scripts, picture by picture", page(async ({ open, trouble }) => {
  for (const id of LESSONS) {
    const tab = await read(open, `lessons/${id}.html`, still);
    const frames = await shown(tab, ".frame").count();
    assert.ok(frames >= 8, `${id} has ${frames} frames`);
    assert.equal(await shown(tab, ".frame .still").count(), frames);
    // Questions hide their answers until somebody asks, and paper is for printers.
    assert.equal(await shown(tab, "details[open]").count(), 0);
    assert.equal(await shown(tab, ".leaf").count(), 0);
    const way = await tab.getByRole("link", { name: "Open the simulation" }).getAttribute("href");
    assert.equal(way, `../#/lesson/${id}`);
    // The patterns are there: a hatched bar is more than its outline.
    const fill = await tab.locator(".h-hold").first().evaluate((bar) => getComputedStyle(bar).fill);
    assert.match(fill, /#hatch-hold/);
  }
  assert.equal(trouble.requests.filter((url) => /\.(wasm|m?js)$/.test(url)).length, 0);
}));

test("the start page leads to the lessons before the program is there", page(async ({ open }) => {
  const tab = await open("", still);
  for (const id of LESSONS) {
    assert.equal(await tab.locator(`main a[href="lessons/${id}.html"]`).count(), 1, id);
  }
  await tab.locator('main a[href="lessons/break-it.html"]').click();
  await tab.getByRole("heading", { level: 1 }).waitFor();
  await tab.getByRole("link", { name: "Teacher’s sheet" }).click();
  await tab.getByRole("heading", { name: "On the board" }).waitFor();
}));

test("the pages without the program have no accessibility violations, light and dark, wide and narrow", page(async ({ open }) => {
  for (const path of PAGES) {
    for (const colorScheme of ["light", "dark"]) {
      const viewport = { width: colorScheme === "dark" ? 390 : 1280, height: 844 };
      const tab = await read(open, path, { colorScheme, viewport });
      await accessible(tab, { rules: { "target-size": { enabled: true } } });
      const over = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${path} scrolls sideways by ${over} px`);
      if (path.includes("fencing")) await shot(tab, `read-${path.replaceAll(/[/.]/g, "-")}-${colorScheme}`);
    }
  }
}));

test("the teacher’s sheet leads to the moments of its script", page(async ({ open }) => {
  const tab = await read(open, "lessons/lease-expiration-teacher.html");
  const ways = await tab.locator(".script a").evaluateAll((links) => links.map((a) => a.getAttribute("href")));
  assert.ok(ways.length >= 3, `${ways}`);
  for (const way of ways) assert.match(way, /^\.\.\/#\/lesson\/lease-expiration\?(run=[a-z-]+&)?event=\d+&present=1$/);
  await tab.locator(".script a").nth(1).click();
  await tab.waitForFunction(() => document.querySelector(".lesson"));
}));

const paper = async (tab) => {
  await tab.emulateMedia({ media: "print" });
  await tab.locator(".lesson > .handout").waitFor();
};

test("a lesson prints as its film strip, and nothing of it is in the page otherwise", page(async ({ open }) => {
  const tab = await open("#/lesson/lease-expiration", { colorScheme: "dark" });
  await tab.locator("#lesson").waitFor();
  const nodes = () => tab.evaluate(() => document.querySelectorAll("*").length);
  const before = await nodes();
  assert.equal(await tab.locator(".handout").count(), 0);
  await paper(tab);
  assert.equal(await shown(tab, ".frame .still").count(), 8);
  for (const name of ["What happened", "Draw it yourself", "Questions", "Answers"]) {
    assert.equal(await shown(tab, `h2:text-is("${name}")`).count(), 1, name);
  }
  // Whatever is on the screen stays there, and paper is white.
  assert.equal(await shown(tab, ".top, .work, .transport").count(), 0);
  assert.equal(await tab.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), "rgb(255, 255, 255)");
  const bars = tab.locator(".handout .h-hold");
  assert.match(await bars.first().evaluate((bar) => getComputedStyle(bar).fill), /#hatch-hold/);
  await shot(tab, "print");
  await tab.emulateMedia({ media: "screen" });
  await tab.locator(".handout").waitFor({ state: "detached" });
  // The picture has the screen's width again in a moment.
  await tab.waitForFunction((wanted) => document.querySelectorAll("*").length === wanted, before, { timeout: 5000 }).catch(() => {});
  assert.equal(await nodes(), before);
}));

test("a run of one’s own prints with what was done to it and what was decided", page(async ({ open }) => {
  const tab = await open("#/lesson/break-it?edits=at+1s+pause+client-a+for+3s;at+6s+crash+client-b");
  await tab.locator("#lesson").waitFor();
  await paper(tab);
  const words = await tab.locator(".handout").innerText();
  for (const said of ["Your own run", "at 6s kill client-b", "Client B crashes."]) {
    assert.ok(words.includes(said), said);
  }
}));

test("the pages of paper do not cut a picture, and answers are not on the page of questions", page(async ({ open }) => {
  const tab = await open("#/lesson/fencing-tokens");
  await tab.locator("#lesson").waitFor();
  for (const format of ["A4", "Letter"]) {
    const pdf = await tab.pdf({ format });
    assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
    const pages = pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
    assert.ok(pages >= 5 && pages <= 12, `${pages} pages of ${format}`);
  }
  await paper(tab);
  const rules = (selector, property) =>
    tab.locator(selector).evaluateAll((all, name) => [...new Set(all.map((e) => getComputedStyle(e)[name]))], property);
  assert.deepEqual(await rules(".handout .frame", "breakInside"), ["avoid"]);
  assert.deepEqual(await rules(".handout .leaf", "breakBefore"), ["page"]);
}));

test("the dialog for taking a run along prints it and leads to the teacher’s sheet", page(async ({ open }) => {
  const tab = await open("#/lesson/break-it");
  // The browser takes the page as it is once it has said that it prints, and lets nothing happen in between.
  await tab.evaluate(() => {
    globalThis.print = () => {
      dispatchEvent(new Event("beforeprint"));
      globalThis.printed = document.querySelectorAll(".handout .frame").length;
      dispatchEvent(new Event("afterprint"));
    };
  });
  await tab.getByRole("button", { name: "Export" }).click();
  const sheet = tab.getByRole("link", { name: "Teacher’s sheet" });
  assert.equal(await sheet.getAttribute("href"), "lessons/break-it-teacher.html");
  await tab.getByRole("button", { name: "Print hand-out" }).click();
  const frames = await tab.evaluate(() => globalThis.printed);
  assert.ok(frames > 0, `the hand-out is there in time: ${frames}`);
  assert.equal(await tab.locator(".handout").count(), 0);
}));
