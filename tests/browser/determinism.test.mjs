// The same scenario, edits and seed give the same record natively and here, byte for byte: random scripts of edits of all
// kinds, each run by the command line and by the page, and their hashes compared.
//
// SCRIPTS=2000 tries more; SEED=7 tries one; a failure prints the command whose run the page does not show.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { page } from "./lib.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SCRIPTS = Number(process.env.SCRIPTS ?? 240);
const LESSONS = [
  ["break-it", "lessons/01-break-it.md"],
  ["lease-expiration", "lessons/05-lease-expiration.md"],
  ["fencing-tokens", "lessons/06-fencing-tokens.md"],
  ["clocks-lie", "lessons/08-clocks-lie.md"],
  ["renewal-is-not-ownership", "lessons/09-renewal-is-not-ownership.md"],
];
const NODES = ["client-a", "client-b", "lock-service", "resource"];
const WORDS = ["acquire", "read", "work", "write", "release", "renew", "check"];
const CHECKS = ["none", "token", "token-once", "token-racy", "version", "claim", "session"];
const SETTINGS = [
  ["lease.ttl", "3s", "5s"], ["link.delay", "20ms", "90ms"], ["link.jitter", "40ms"], ["acquire.wait", "queue", "retry"],
  ["acquire.retry", "400ms"], ["lease.token", "random", "set-then-incr"], ["resume.order", "timers-first"],
  ["request.timeout", "300ms"], ["resource.reads", "token"], ["lease.clock", "wall", "boot"],
  ["client.clock", "wall", "boot"], ["client.margin", "700ms"], ["deadline.rule", "timer"], ["lease.deadline", "receipt", "none"],
  ["renew.failure", "stop", "stop-and-undo"], ["renew.rule", "careless"], ["release.rule", "careless", "get-then-del"],
  ["resource.gap", "900ms"], ["lease.store", "cached", "memory"], ["lock.delay", "1s"],
];

/** Mulberry32: small, and the same everywhere. */
function draws(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** An edit, and which kind of all it is. */
function edit(draw) {
  const pick = (list) => list[draw(list.length)];
  const [a, at, span, n] = [pick(NODES), draw(12_000), draw(9_000), 1 + draw(3)];
  const b = pick(NODES.filter((node) => node !== a));
  const rest = NODES.filter((node) => node !== a && node !== b).join(" ");
  const client = pick(["client-a", "client-b"]);
  const [key, ...values] = pick(SETTINGS);
  const kinds = [
    `at ${at}ms pause ${a} for ${span}ms`,
    `pause ${client} before ${pick(WORDS)}#${n} for ${span}ms`,
    `at ${at}ms suspend ${a} for ${span}ms`,
    `at ${at}ms freeze ${a} for ${span}ms`,
    `at ${at}ms cut ${a} ${b} for ${span}ms`,
    `at ${at}ms cut ${a}>${b}`,
    `at ${at}ms heal ${a} ${b}`,
    `at ${at}ms ${pick(["kill", "power-off", "shut-down"])} ${a}`,
    `at ${at}ms restart ${a}`,
    `at ${at}ms clock ${a} ${pick(["+", "-"])}${span}ms`,
    `at ${at}ms rate ${a} ${pick(["4/5", "3/2", "1/7"])}`,
    `drop ${a}>${b}#${n}`,
    `delay ${a}>${b}#${n} by ${span}ms`,
    `duplicate ${a}>${b}#${n}`,
    `send resource ${40 + n}`,
    `at ${at}ms set resource.check ${pick(CHECKS)}`,
    `set ${key} ${pick(values)}`,
    `at ${at}ms cut {${a} ${b}}|{${rest}} for ${span}ms`,
    `at ${at}ms heal {${a}}|{${b} ${rest}}`,
    `${pick(["suspend", "freeze"])} ${client} before ${pick(WORDS)}#${n} for ${span}ms`,
    `at ${at}ms pause ${client}.${pick(["main", "heartbeat"])} for ${span}ms`,
    `duplicate ${a}>${b}#${n} by ${span}ms`,
    `at ${at}ms send resource ${40 + n}`,
    `at ${at}ms set lease.ttl ${pick(["1s", "6s"])}`,
  ];
  const kind = draw(kinds.length);
  return { text: kinds[kind], kind, of: kinds.length };
}

const run = promisify(execFile);

/** The lesson, edits and seed of a script, and the hash of its native run; none where an edit means nothing there. */
async function native(seed) {
  const draw = draws(seed);
  const [id, file] = LESSONS[draw(LESSONS.length)];
  const drawn = Array.from({ length: 1 + draw(6) }, () => edit(draw));
  const edits = drawn.map(({ text }) => text);
  const own = draw(50);
  const binary = process.env.LOCKSCOPE_BIN;
  const [program, before] = binary ? [binary, []] : ["cargo", ["run", "--quiet", "--bin", "lockscope", "--"]];
  const options = ["run", file, "--own-edits", "drop", "--seed", String(own), "--format", "json", ...edits.flatMap((e) => ["--edit", e])];
  try {
    const { stdout } = await run(program, [...before, ...options], { cwd: ROOT, maxBuffer: 1e8 });
    const command = options.map((o) => (/^[\w./-]+$/.test(o) ? o : `'${o}'`)).join(" ");
    return { id, edits, own, drawn, hash: JSON.parse(stdout).hash, command };
  } catch (error) {
    assert.equal(error.code, 2, `${options.join(" ")}: ${error.stderr}`);
    return null;
  }
}

test("random scripts give the same record here as natively", { timeout: 900_000 }, page(async ({ open }) => {
  const one = process.env.SEED;
  const seeds = one ? [Number(one)] : Array.from({ length: SCRIPTS }, (_, n) => n);
  const tab = await open("#/lesson/break-it");
  let tried = 0;
  const [hashes, kinds] = [new Set(), new Set()];
  let all = 0;
  for (let first = 0; first < seeds.length; first += 4) {
    const some = seeds.slice(first, first + 4);
    const scripts = await Promise.all(some.map(native));
    for (const [n, script] of scripts.entries()) {
      if (!script) continue;
      const { id, edits, own, drawn, hash, command } = script;
      const list = edits.map((e) => encodeURIComponent(e)).join(";");
      await tab.evaluate((where) => { location.hash = where; }, `#/lesson/${id}?seed=${own}&edits=${list}`);
      const same = (wanted) => document.querySelector(".stage")?.getAttribute("data-run-hash") === wanted;
      await tab.waitForFunction(same, hash, { timeout: 8000 }).catch(async () => {
        const here = await tab.locator(".stage").getAttribute("data-run-hash");
        const replay = `SEED=${some[n]} node --test tests/browser/determinism.test.mjs`;
        assert.fail(`natively ${hash}, here ${here}: lockscope ${command}\nreplay with: ${replay}`);
      });
      // The page writes its own address a little later; the next one must not come in between.
      await tab.waitForFunction(() => location.hash.includes("?v="));
      tried += 1;
      hashes.add(hash);
      drawn.forEach(({ kind }) => kinds.add(kind));
      all = drawn[0].of;
    }
  }
  console.log(`${tried} scripts of ${seeds.length}, ${hashes.size} different runs`);
  assert.ok(one || tried > seeds.length / 4, `only ${tried} scripts mean something`);
  if (!one && SCRIPTS >= 240) assert.equal(kinds.size, all, "edits of every kind are among them");
}));
