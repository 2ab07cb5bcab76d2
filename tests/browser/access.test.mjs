// The page for everyone: axe-core on home and on every lesson at its first, middle and last beat, in light and dark, on
// wide and narrow screens and on a projector; focus, zoom, touch, forced colours.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DIST, accessible, page, shot } from "./lib.mjs";

const LESSONS = readdirSync(join(DIST, "lessons"))
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length));

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

const stage = (tab) => tab.locator(".stage");

async function lesson(open, id, options, query = "") {
  const tab = await open(`#/lesson/${id}${query}`, options);
  await stage(tab).waitFor();
  return tab;
}

/** Turns to the first, a middle and the last beat, and does something at each. */
async function atBeats(tab, visit) {
  await visit("first");
  const next = tab.locator(".story .turns button").last();
  const place = await tab.locator(".story .turns .quiet").innerText();
  const all = Number(place.match(/of (\d+)/)[1]);
  // Questions on the way are stops of their own.
  let told = 0;
  for (let turns = 0; turns < 3 * all && told < all; turns++) {
    await next.click();
    const before = told;
    told = Number((await tab.locator(".story .turns .quiet").innerText()).match(/^\d+/)[0]);
    if (before < all / 2 && told >= all / 2) await visit("middle");
  }
  await visit("last");
}

const sideways = (tab) => tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);

test("home has no accessibility findings", page(async ({ open }) => {
  for (const colorScheme of ["light", "dark"]) {
    for (const viewport of [WIDE, PHONE, { width: 320, height: 640 }]) {
      const tab = await open("", { colorScheme, viewport });
      await tab.locator(".cards a").first().waitFor();
      await accessible(tab);
      assert.ok((await sideways(tab)) <= 0);
      await shot(tab, `home-${colorScheme}-${viewport.width}`);
    }
  }
}));

for (const id of LESSONS) {
  test(`the lesson ${id} has no accessibility findings at its beats, light and dark, wide and narrow`, page(async ({ open }) => {
    for (const colorScheme of ["light", "dark"]) {
      for (const viewport of [WIDE, PHONE]) {
        const tab = await lesson(open, id, { colorScheme, viewport });
        await atBeats(tab, async (beat) => {
          await accessible(tab);
          assert.ok((await sideways(tab)) <= 0, "nothing scrolls sideways");
          await shot(tab, `${id}-${beat}-${colorScheme}-${viewport.width}`);
        });
      }
    }
  }));

  test(`the lesson ${id} has no accessibility findings on a projector`, page(async ({ open }) => {
    const tab = await lesson(open, id, { viewport: { width: 1280, height: 720 } }, "?present=1");
    await accessible(tab);
    await shot(tab, `${id}-present-first`);
    for (let turns = 0; turns < 4; turns++) await tab.keyboard.press("PageDown");
    await accessible(tab);
    await shot(tab, `${id}-present-middle`);
    for (let turns = 0; turns < 30; turns++) await tab.keyboard.press("PageDown");
    await accessible(tab);
    await shot(tab, `${id}-present-last`);
  }));
}

test("every dialog has no accessibility findings, and Esc gives the focus back", page(async ({ open }) => {
  const tab = await lesson(open, "lease-expiration", {});
  for (const name of ["Export", "Settings", "Help", "Break it"]) {
    const opener = tab.getByRole("button", { name, exact: true });
    await opener.click();
    await tab.getByRole("dialog").waitFor();
    await accessible(tab);
    await tab.keyboard.press("Escape");
    await tab.getByRole("dialog").waitFor({ state: "detached" });
    assert.ok(await opener.evaluate((b) => b === document.activeElement), `${name} has the focus again`);
  }
}));

test("the focus goes from the skip link to words, prediction, transport and log, and meets no trap", page(async ({ open }) => {
  const tab = await lesson(open, "lease-expiration", {});
  for (let i = 0; i < 60 && !(await tab.locator("#predict").isVisible()); i++) await tab.keyboard.press("ArrowRight");
  // Where a page begins: nothing comes before the link that skips its head.
  await tab.evaluate(() => document.querySelector("#app :is(a, button, input, select, [tabindex='0'])").focus());
  assert.ok(await tab.locator(".skip").evaluate((skip) => skip === document.activeElement));
  await tab.keyboard.press("Enter");
  assert.equal(await tab.evaluate(() => document.activeElement.id), "words");
  const places = [["words", ".story"], ["prediction", "#predict"], ["transport", "#transport"],
    ["log", ".log"]];
  const seen = [];
  let stops = 0;
  for (; stops < 400; stops++) {
    await tab.keyboard.press("Tab");
    const place = await tab.evaluate((all) => {
      const element = document.activeElement;
      if (!element || element === document.body) return "end";
      return all.find(([, selector]) => element.closest(selector))?.[0] ?? "other";
    }, places);
    if (place === "end") break;
    if (place !== "other" && !seen.includes(place)) seen.push(place);
  }
  assert.deepEqual(seen, places.map(([name]) => name));
  assert.ok(stops < 400, "Tab leads through the page and out of it");
}));

test("nothing that has the focus is covered, and its ring is wide", page(async ({ open }) => {
  for (const viewport of [WIDE, PHONE, { width: 640, height: 400 }]) {
    const tab = await lesson(open, "lease-expiration", { viewport }, "?event=60");
    await tab.evaluate(() => document.activeElement.blur());
    for (let i = 0; i < 120; i++) {
      await tab.keyboard.press("Tab");
      const found = await tab.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return "end";
        const bar = document.querySelector("#transport");
        const [a, b] = [element.getBoundingClientRect(), bar.getBoundingClientRect()];
        const fixed = getComputedStyle(bar).position === "sticky";
        const covered = fixed && !bar.contains(element)
          && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > Math.min(a.height, 24) / 2
          && a.height < innerHeight / 2;
        const style = getComputedStyle(element);
        const own = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 3;
        const ring = own || element.id === "stage" || element.matches(".skip");
        return { covered, ring, what: element.outerHTML.slice(0, 120) };
      });
      if (found === "end") break;
      assert.ok(!found.covered, `covered at ${viewport.width}: ${found.what}`);
      assert.ok(found.ring, `no ring: ${found.what}`);
    }
  }
}));

test("phones of any width and way up, and a zoomed page, are usable", page(async ({ open }) => {
  for (const viewport of [PHONE, { width: 320, height: 640 }, { width: 844, height: 390 }, { width: 640, height: 400 }]) {
    const tab = await lesson(open, "lease-expiration", { viewport, hasTouch: true, isMobile: true });
    assert.ok((await sideways(tab)) <= 0, `${viewport.width}`);
    for (let i = 0; i < 5; i++) await tab.getByRole("button", { name: "Step forward" }).tap();
    assert.equal(await stage(tab).getAttribute("data-step"), "5");
    for (const name of ["Story", "Knows", "Program", "What happened"]) {
      await tab.getByRole("tab", { name }).tap();
      assert.equal(await tab.getByRole("tab", { name }).getAttribute("aria-selected"), "true");
      assert.ok((await sideways(tab)) <= 0, `${viewport.width} ${name}`);
    }
    await tab.getByRole("tab", { name: "Story" }).tap();
    await tab.locator(".story .turns button").last().tap();
    const small = await tab.evaluate(() => [...document.querySelectorAll("button, select, [role=tab]")]
      .filter((b) => b.checkVisibility() && !b.closest(".stage, .prose") && !b.matches(".skip"))
      .map((b) => [b.getBoundingClientRect(), b.textContent || b.ariaLabel])
      .filter(([r]) => r.height < 43.5 || r.width < 24)
      .map(([r, text]) => `${text}: ${Math.round(r.width)}×${Math.round(r.height)}`));
    assert.deepEqual(small, [], `targets for fingers at ${viewport.width}`);
    await shot(tab, `phone-${viewport.width}x${viewport.height}`);
  }
}));

test("colours that the system forces keep every shape and pattern", page(async ({ open }) => {
  const tab = await lesson(open, "lease-expiration", { forcedColors: "active" }, "?event=81");
  const shapes = (page) => page.evaluate(() => [...document.querySelectorAll(".picture path, .picture text, .picture rect")]
    .filter((e) => { const s = getComputedStyle(e); return s.fill === "none" && s.stroke === "none"; }).length);
  const plain = await lesson(open, "lease-expiration", {}, "?event=81");
  assert.equal(await shapes(tab), await shapes(plain), "nothing vanished");
  const colours = await tab.evaluate(() => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = "CanvasText";
    const wanted = getComputedStyle(probe).color;
    probe.remove();
    const used = ["ink", "muted", "hold", "stale", "danger", "fenced"]
      .flatMap((role) => [...document.querySelectorAll(`.picture .f-${role}`)])
      .map((e) => getComputedStyle(e).fill);
    return { wanted, used: [...new Set(used)] };
  });
  assert.deepEqual(colours.used, [colours.wanted]);
  await accessible(tab);
  await shot(tab, "forced-colours");
}));

test("the text can be spaced out without losing any", page(async ({ open }) => {
  const tab = await lesson(open, "lease-expiration", {}, "?event=60");
  await tab.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important; }");
    document.adoptedStyleSheets = [sheet];
  });
  const cut = await tab.evaluate(() => [...document.querySelectorAll("button, h1, h2, p, .verdict")]
    .filter((e) => e.checkVisibility() && !e.closest(".aloud, .side .stands, svg"))
    .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflow === "hidden")
    .map((e) => e.outerHTML.slice(0, 100)));
  assert.deepEqual(cut, []);
}));

test("without the program each lesson can still be read, in a page that needs nothing", page(async ({ open }) => {
  const shell = await open("", { started: false, javaScriptEnabled: false });
  const links = shell.getByRole("link", { name: /^Read and print: / });
  assert.equal(await links.count(), LESSONS.length);
  for (const href of await links.evaluateAll((all) => all.map((a) => a.href))) {
    const tab = await open("", { started: false });
    await tab.goto(href);
    assert.equal(await tab.getByRole("heading", { level: 1 }).count(), 1);
    assert.ok((await tab.locator("svg").count()) > 2, "with its pictures");
    assert.ok((await sideways(tab)) <= 0);
    await accessible(tab);
  }
}));
