// With a keyboard and nothing else everything can be done: each control is reached with Tab, and pressed with a key.

import { test } from "node:test";
import { DEEDS, keys } from "./deeds.mjs";
import { page } from "./lib.mjs";

for (const [name, where, deed] of DEEDS) {
  test(`by keyboard: ${name}`, page(async ({ open }) => {
    const tab = await open(`#/lesson/${where}`, { permissions: ["clipboard-read", "clipboard-write"] });
    await tab.locator(".stage[data-run-hash]").waitFor();
    // Whoever has no pointer has none by accident either.
    await tab.mouse.move(0, 0);
    await deed(keys(tab));
  }));
}
