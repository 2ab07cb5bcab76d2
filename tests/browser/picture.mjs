// Takes the README's picture of the page.
//
//     cargo xtask build && node tests/browser/picture.mjs

import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { chromiumPath, running, serveDist } from "./lib.mjs";

const server = await serveDist();
const browser = await chromium.launch({ executablePath: chromiumPath(), args: ["--no-sandbox", "--disable-gpu"] });
const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await tab.goto(`${server.url}#/lesson/lease-expiration?run=fixed&event=79`);
await running(tab);
await tab.waitForTimeout(500);
await tab.screenshot({ path: fileURLToPath(new URL("../snapshots/page.png", import.meta.url)) });
await browser.close();
await server.close();
