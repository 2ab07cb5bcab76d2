// With a finger on a phone and nothing else everything can be done.

import { test } from "node:test";
import { DEEDS, finger } from "./deeds.mjs";
import { page } from "./lib.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

for (const [name, where, deed] of DEEDS) {
  test(`by touch: ${name}`, page(async ({ open }) => {
    const tab = await open(`#/lesson/${where}`, { ...PHONE, permissions: ["clipboard-read", "clipboard-write"] });
    await tab.locator(".stage[data-run-hash]").waitFor();
    await deed(finger(tab));
  }));
}
