// The page starts anywhere, says what is wrong when it cannot, and survives its own panics with dignity.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, page, serveDist, shot } from "./lib.mjs";

const heading = (tab) => tab.getByRole("heading", { level: 1, name: "Lockscope" });

test("the page starts below a sub-path, without errors and without another host", page(async ({ open, trouble }) => {
  const tab = await open();
  await heading(tab).waitFor();
  assert.equal(await tab.title(), "Lockscope");
  await shot(tab, "start");
  const programs = () => trouble.requests.filter((url) => url.endsWith(".wasm")).length;
  assert.equal(programs(), 0, "the start page needs no program");
  await tab.getByRole("link", { name: /Break it in sixty seconds/ }).first().hover();
  await tab.waitForFunction(() => performance.getEntriesByType("resource").some((entry) => entry.name.endsWith(".wasm")));
  await tab.getByRole("link", { name: /Break it in sixty seconds/ }).first().click();
  await tab.locator(".stage").waitFor();
  assert.equal(programs(), 1, "a lesson fetches it once");
  await tab.getByRole("link", { name: "Lessons" }).first().click();
  await heading(tab).waitFor();
  assert.equal(await tab.title(), "Lockscope");
  assert.equal(await tab.evaluate(() => document.activeElement?.id), "start");
  assert.equal(await tab.evaluate(() => scrollY), 0);

  const low = tab.getByRole("link", { name: /Herd or predecessor/ }).first();
  await low.focus();
  const top = await tab.evaluate(() => scrollY);
  assert.ok(top > 0);
  await tab.keyboard.press("Enter");
  await tab.locator(".stage").waitFor();
  await tab.goBack();
  await heading(tab).waitFor();
  assert.equal(await tab.evaluate(() => scrollY), top, "back leads to where the reader was");
  assert.equal(await low.evaluate((link) => link === document.activeElement), true);
}));

test("the start page has no accessibility violations in light and dark", page(async ({ open }) => {
  for (const colorScheme of ["light", "dark"]) {
    const tab = await open("", { colorScheme });
    await heading(tab).waitFor();
    await accessible(tab);
  }
}));

test("without JavaScript the page says what it is and what it needs", page(async ({ open }) => {
  const tab = await open("", { javaScriptEnabled: false, started: false });
  await heading(tab).waitFor();
  assert.match(await tab.locator("noscript").innerText(), /JavaScript is switched off/);
  await tab.getByRole("link", { name: /^Read and print: Fencing/ }).click();
  await tab.getByRole("heading", { level: 1, name: "Fencing tokens" }).waitFor();
  await tab.goBack();
  assert.equal(await tab.locator("progress").isVisible(), false);
  await shot(tab, "no-script");
}));

/** Opens the page on a server that answers for one kind of file itself. */
async function onBrokenServer(t, open, ending, answer) {
  const server = await serveDist({
    intercept: (request, response) => {
      if (!new URL(request.url, "http://localhost").pathname.endsWith(ending)) return false;
      answer(response);
      return true;
    },
  });
  t.after(() => server.close());
  return open("#/lesson/break-it", { url: server.url, started: false });
}

const missing = (response) => response.writeHead(404).end();
const broken = (response) => response.writeHead(200, { "Content-Type": "application/wasm" }).end("not a program");

for (const [what, ending, answer, words] of [
  ["a missing program", ".wasm", missing, /could not be loaded \(404/],
  ["a broken program", ".wasm", broken, /could not start it/],
  ["a missing module of bindings", ".js", missing, /could not be loaded/],
]) {
  test(`${what} is explained, with a button to try again`, page(async ({ open, trouble, t }) => {
    const tab = await onBrokenServer(t, open, ending, answer);
    const alert = tab.getByRole("alert").filter({ hasText: words });
    await alert.waitFor();
    const retry = tab.getByRole("button", { name: "Try again" });
    assert.equal(await retry.evaluate((button) => button === document.activeElement), true);
    await accessible(tab);
    await shot(tab, what.replaceAll(" ", "-"));

    const before = trouble.requests.length;
    await retry.click();
    await alert.waitFor();
    assert.ok(trouble.requests.length > before, "trying again asks the server again");
    assert.equal(new URL(tab.url()).hash, "#/lesson/break-it");
    await tab.getByRole("link", { name: "Read this lesson without the simulation" }).click();
    await tab.getByRole("heading", { level: 1, name: "Break it in sixty seconds" }).waitFor();
    trouble.errors.length = 0;
  }));
}

test("a browser without WebAssembly is told so", page(async ({ open, trouble }) => {
  // A page script cannot remove WebAssembly before boot.mjs runs, so the tab opens on nothing first.
  const tab = await open("#/lesson/break-it", { started: false });
  await tab.addInitScript(() => { delete globalThis.WebAssembly; });
  await tab.reload();
  await tab.getByRole("alert").filter({ hasText: /no WebAssembly/ }).waitFor();
  trouble.errors.length = 0;
}));

test("a panic covers the page with a report to copy and a way back", page(async ({ open, trouble }) => {
  const tab = await open("#some-run", { permissions: ["clipboard-read", "clipboard-write"] });
  await tab.evaluate(() => globalThis.lockscopePanic("a made-up panic at src/nowhere.rs:1:2"));
  const dialog = tab.getByRole("alertdialog", { name: "Lockscope has stopped" });
  await dialog.waitFor();
  const reload = dialog.getByRole("button", { name: "Reload at this link" });
  assert.equal(await reload.evaluate((button) => button === document.activeElement), true);
  await accessible(tab);
  await shot(tab, "panic");

  await dialog.getByRole("button", { name: "Copy report" }).click();
  await dialog.getByText("Copied.").waitFor();
  const report = await tab.evaluate(() => navigator.clipboard.readText());
  assert.match(report, /a made-up panic at src\/nowhere\.rs:1:2/);
  assert.match(report, /Link: http.*#some-run/);
  assert.match(report, /Build: [0-9a-f]{16}/);
  assert.match(report, /Browser: .*Chrome/);

  await tab.keyboard.press("Escape");
  await tab.keyboard.press("Escape");
  await tab.evaluate(() => globalThis.lockscopePanic("a second one"));
  assert.equal(await tab.getByRole("alertdialog").count(), 1);
  assert.equal(await dialog.isVisible(), true);

  await dialog.getByRole("button", { name: "Start over" }).click();
  await heading(tab).waitFor();
  await dialog.waitFor({ state: "detached" });
  assert.equal(new URL(tab.url()).hash, "");
  trouble.errors.length = 0;
}));
