// All that a learner does with a run, as deeds that name what a person meets: by its role and its name.
//
// A deed has hands, and knows nothing of what they are: `keys` has a keyboard and no pointer, `finger` has a touch
// screen and no keyboard. `keyboard.test.mjs` and `touch.test.mjs` do the same deeds.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { passes } from "./lib.mjs";

// ---- Hands ---------------------------------------------------------------------------------------------------------

/** How long something may take to appear that one has just asked for. */
const SOON = 500;

const comes = (target, timeout = SOON) => target.first().waitFor({ timeout }).then(() => true, () => false);
const button = (within, name) => within.getByRole("button", { name, exact: typeof name === "string" });

/** What both hands share: turning to the tab that has what is wanted, where there are tabs. */
async function bring(hands, target) {
  if (await comes(target)) return;
  const tabs = hands.tab.getByRole("tab");
  for (let n = 0; n < (await tabs.count()); n += 1) {
    await hands.turn(n);
    if (await comes(target)) return;
  }
  assert.ok(await comes(target, 2000), `${target} is nowhere`);
}

/** Opens the part of the page with this heading, where it is folded. */
async function unfold(hands, name) {
  const fold = hands.tab.locator("summary", { hasText: name });
  // Where it is not folded there is nothing to open, and what is wanted is in sight.
  if (!(await bring(hands, fold).then(() => true, () => false))) return;
  if (await fold.first().evaluate((summary) => !summary.parentElement.open)) await hands.press(fold);
}

/** A point of the picture where a mark of something that has happened is in sight. */
export async function inSight(tab) {
  const point = await tab.locator("#stage .picture").first().evaluate((picture) => {
    const stage = picture.closest("#stage");
    stage.scrollIntoView({ block: "center" });
    const box = stage.getBoundingClientRect();
    // What has not happened yet is cut off, and the finger goes through it; what lies behind others is not meant.
    const at = (x, y) => document.elementFromPoint(x, y)?.closest("[data-event] text:not(.f-muted)");
    for (let y = Math.min(box.bottom, innerHeight) - 8; y > box.top; y -= 6) {
      for (let x = box.left + 70; x < box.right - 4; x += 4) if (picture.contains(at(x, y) ?? null)) return [x, y];
    }
    return null;
  });
  assert.ok(point, "something that can be selected is in sight");
  return point;
}

/** Where the option with this label is in a list, and which one is chosen. */
const choice = (target, label) => target.evaluate((select, [source, flags]) => {
  const wanted = [...select.options].findIndex((option) => new RegExp(source, flags).test(option.text));
  return [wanted, select.selectedIndex];
}, label instanceof RegExp ? [label.source, label.flags] : [`^${label.replaceAll(/[^\w ]/g, ".")}$`, ""]);

/** A keyboard, and no pointer. What it uses has to be reached with Tab, whatever the page is like. */
export function keys(tab) {
  const key = (...names) => names.reduce((before, name) => before.then(() => tab.keyboard.press(name)), Promise.resolve());
  const stand = (target) => target.first().evaluate((element) => {
    const now = document.activeElement;
    if (now === element) return "here";
    return element.compareDocumentPosition(now) & Node.DOCUMENT_POSITION_FOLLOWING ? "before" : "after";
  });
  const hands = {
    tab,
    key,
    /** Goes there with Tab, or with Shift+Tab where that is nearer. */
    async reach(target) {
      await bring(hands, target);
      const where = await stand(target);
      for (let presses = 0; presses < 250; presses += 1) {
        if ((await stand(target)) === "here") return;
        await key(where === "before" ? "Shift+Tab" : "Tab");
      }
      assert.fail(`${target} cannot be reached with Tab`);
    },
    async press(target) {
      await hands.reach(target);
      await key("Enter");
    },
    async toggle(target) {
      await hands.reach(target);
      await key("Space");
    },
    async pick(target, label) {
      await hands.reach(target);
      const [wanted, now] = await choice(target, label);
      const way = wanted - now;
      for (let n = 0; n < Math.abs(way); n += 1) await key(way > 0 ? "ArrowDown" : "ArrowUp");
      assert.equal((await choice(target, label))[1], wanted, `${label} can be chosen with arrows`);
    },
    async type(target, text) {
      await hands.reach(target);
      await key("Control+a");
      await tab.keyboard.type(text);
    },
    /** A radio button: Tab leads to its group, arrows to it. */
    async mark(target) {
      await bring(hands, target);
      const name = await target.getAttribute("name");
      const group = () => tab.evaluate((n) => document.activeElement?.getAttribute("name") === n, name);
      for (let presses = 0; !(await group()); presses += 1) {
        assert.ok(presses < 250, `${target} cannot be reached with Tab`);
        await key("Tab");
      }
      if ((await stand(target)) === "here") await key("Space");
      for (let presses = 0; !(await target.isChecked()); presses += 1) {
        assert.ok(presses < 12, `${target} cannot be chosen with arrows`);
        await key("ArrowDown");
      }
    },
    async turn(n) {
      const tabs = tab.getByRole("tab");
      const chosen = tab.getByRole("tab", { selected: true });
      const now = await chosen.evaluate((one) => [...one.parentElement.querySelectorAll("[role=tab]")].indexOf(one));
      await hands.reach(chosen);
      for (let at = now; at !== n; at += Math.sign(n - now)) await key(n > now ? "ArrowRight" : "ArrowLeft");
      assert.equal(await tabs.nth(n).getAttribute("aria-selected"), "true");
    },
    /** Wherever the focus is, as long as it is not in a field. */
    async undo() { await key("Control+z"); },
    async redo() { await key("Control+Shift+z"); },
    async close() { await key("Escape"); },
    async scrub(slider) {
      await hands.reach(slider);
      await key("PageUp", "PageUp");
    },
    async longer(edge) {
      await hands.reach(edge);
      await key("ArrowDown", "Shift+ArrowDown");
      return 1100;
    },
    /** Selects the event that the run stands at. */
    async select() {
      await tab.locator("#lesson").focus();
      await key("w", "w");
    },
    async choose(name, path) {
      const chooser = tab.waitForEvent("filechooser");
      await hands.press(tab.getByLabel(name));
      await (await chooser).setFiles(path);
    },
  };
  return hands;
}

/** A finger on a screen, and no keyboard but the one that a phone shows for a field. */
export function finger(tab) {
  const hands = {
    tab,
    async press(target) {
      await bring(hands, target);
      await target.first().tap();
    },
    toggle: (target) => hands.press(target),
    async pick(target, label) {
      await bring(hands, target);
      // The phone shows a list of its own.
      await target.selectOption({ index: (await choice(target, label))[0] });
    },
    async type(target, text) {
      await hands.press(target);
      await target.fill(text);
    },
    async mark(target) {
      await bring(hands, target);
      await target.tap();
      assert.ok(await target.isChecked());
    },
    turn: (n) => tab.getByRole("tab").nth(n).tap(),
    undo: () => hands.press(button(tab.getByRole("region", { name: "What is done to this run" }), "Undo")),
    redo: () => hands.press(button(tab.getByRole("region", { name: "What is done to this run" }), "Redo")),
    close: () => hands.press(button(tab.getByRole("dialog"), "Close")),
    async scrub(slider) {
      const box = await slider.boundingBox();
      await tab.touchscreen.tap(box.x + box.width * 0.6, box.y + box.height / 2);
    },
    async longer(edge) {
      await bring(hands, edge);
      await edge.scrollIntoViewIfNeeded();
      const box = await edge.boundingBox();
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      const client = await tab.context().newCDPSession(tab);
      const touch = (type, points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points });
      await touch("touchStart", [{ x, y }]);
      for (let up = 4; up <= 60; up += 4) await touch("touchMove", [{ x, y: y - up }]);
      await touch("touchEnd", []);
      return null;
    },
    /** Selects something that has happened, where it is in sight in the picture. */
    select: async () => tab.touchscreen.tap(...(await inSight(tab))),
    async choose(name, path) {
      const chooser = tab.waitForEvent("filechooser");
      await hands.press(tab.getByText(name, { exact: true }));
      await (await chooser).setFiles(path);
    },
  };
  return hands;
}

// ---- What a person sees --------------------------------------------------------------------------------------------

const done = (tab) => tab.getByRole("region", { name: "What is done to this run" });
const edits = async (hands) => {
  await bring(hands, done(hands.tab));
  return done(hands.tab).locator("li > span > code").allTextContents();
};
const run = (tab) => tab.locator(".stage").getAttribute("data-run-hash");
const step = async (tab) => Number(await tab.locator(".stage").getAttribute("data-step"));
const dialog = (tab) => tab.getByRole("dialog");

/** Waits for a change of the run on screen. */
async function changes(tab, was) {
  await tab.waitForFunction((old) => document.querySelector(".stage").getAttribute("data-run-hash") !== old, was);
}

// ---- Deeds ---------------------------------------------------------------------------------------------------------

/**
 * Every fault of the menu: a lesson that offers it, at which event, and what is chosen and pressed there. Some are done
 * after another.
 */
const MENU = [
  ["lease-expiration?event=15", [
    [{ press: "Pause now", length: "3" }, /^at \S+ pause client-a for 3s$/],
    [{ press: "Pause just before that", next: "write" }, /^pause client-a before write#\d+ for 12s$/],
    [{ press: "Kill", node: "Lock service" }, /^at \S+ kill lock-service$/, { press: "Restart", node: "Lock service" }, /^at \S+ restart lock-service$/],
    [{ press: "Cut its power", node: "Client B" }, /^at \S+ power-off client-b$/],
    [{ press: "Shut down", node: "Resource" }, /^at \S+ shut-down resource$/],
    [{ press: "Cut", way: "Lock service", length: "0.5" }, /^at \S+ cut client-a lock-service for 500ms$/],
    [{ press: "Cut", way: "Resource", length: "60" }, /^at \S+ cut client-a resource for 60s$/, { press: "Heal", way: "Resource" }, /^at \S+ heal client-a resource$/],
    [{ press: "Cut this direction only", way: "Resource" }, /^at \S+ cut client-a>resource for 12s$/],
    [{ press: "Cut", way: /everybody|two sides/ }, /^at \S+ cut \{client-a\}\|\{client-b lock-service resource\} for 12s$/],
    [{ press: "Delay the next message", way: "Resource", length: "4" }, /^delay client-a>resource#\d+ by 4s$/],
  ]],
  ["clocks-lie?event=20", [
    [{ press: "Let its host sleep" }, /^at \S+ suspend client-a for 12s$/],
    [{ press: "Freeze its machine" }, /^at \S+ freeze client-a for 12s$/],
    [{ press: "Set forward", node: "Lock service", length: "8" }, /^at \S+ clock lock-service \+8s$/],
    [{ press: "Set back", length: "8" }, /^at \S+ clock client-a -8s$/],
    [{ press: "Let them run so", rate: "×5/4" }, /^at \S+ rate client-a 5\/4$/],
  ]],
  ["renewal-is-not-ownership?event=15", [
    [{ press: "Lose the next message" }, /^drop client-a>lock-service#\d+$/],
    [{ press: "Pause that task", task: "heartbeat" }, /^at \S+ pause client-a\.heartbeat for 12s$/],
  ]],
  ["efficiency-or-correctness?event=15", [
    [{ press: "Let a copy of the next message arrive too", way: "Resource", length: "2" }, /^duplicate client-a>resource#\d+ by 2s$/],
  ]],
];

async function breakIt(hands, { press, node, way, next, task, rate, length }) {
  const { tab } = hands;
  const was = await run(tab);
  await hands.press(button(tab, "Break it"));
  const sheet = dialog(tab);
  await sheet.waitFor();
  const choices = [["Which one", node], ["The way to", way], ["Its next", next], ["Only its task", task], ["Their speed", rate]];
  for (const [name, label] of choices.filter((c) => c[1])) {
    await hands.pick(sheet.getByRole("combobox", { name }), label);
  }
  if (length) await hands.type(sheet.getByRole("spinbutton", { name: /seconds/i }), length);
  await hands.press(button(sheet, press));
  await sheet.waitFor({ state: "detached" });
  await changes(tab, was);
  return (await edits(hands)).at(-1);
}

async function menu(hands, acts) {
  const { tab } = hands;
  for (const [first, wanted, second, after] of acts) {
    const before = [await run(tab), await edits(hands)];
    const edit = await breakIt(hands, first);
    assert.match(edit, wanted);
    if (second) {
      // What was done is a step later on the way.
      await hands.press(button(tab, "Step forward"));
      const was = await run(tab);
      assert.match(await breakIt(hands, second), after);
      await hands.undo();
      await changes(tab, await run(tab).then((now) => (now === was ? "" : now)));
    }
    const now = await run(tab);
    await hands.undo();
    if (now !== before[0]) await changes(tab, now);
    assert.deepEqual([await run(tab), await edits(hands)], before, `${edit} is undone`);
  }
}

/** A deed: its name, where it begins, and what is done. */
export const DEEDS = [
  ...MENU.map(([where, acts]) => [`every fault that ${where.replace(/\?.*/, "")} offers is injected from the page, and undone`, where, (hands) => menu(hands, acts)]),

  ["an edit is written in words", "lease-expiration?event=15", async (hands) => {
    const { tab } = hands;
    await hands.type(tab.getByRole("textbox", { name: /^Add an edit/ }), "at 4s rate client-b 3/2");
    await hands.press(button(tab, "Add"));
    await done(tab).getByText("at 4s rate client-b 3/2").waitFor();
    await hands.press(button(tab, "Remove: at 4s rate client-b 3/2"));
    assert.deepEqual(await edits(hands), ["pause client-a before write#1 for 12s"]);
  }],

  ["a token is sent by hand", "fencing-tokens?event=40", async (hands) => {
    const { tab } = hands;
    await hands.type(tab.getByRole("spinbutton", { name: "Send a token by hand" }), "7");
    await hands.press(button(tab, "Send"));
    await done(tab).getByText(/send resource 7$/).waitFor();
  }],

  ["the edge of a pause is dragged, and typed; undo and redo", "lease-expiration?event=81", async (hands) => {
    const { tab } = hands;
    const before = await edits(hands);
    const first = await run(tab);
    const by = await hands.longer(tab.getByRole("button", { name: /^Length of the pause of Client A/ }).and(tab.locator(".grip")).first());
    await changes(tab, first);
    // What the last move asks for is drawn with the next frame, and the hand is gone only then.
    await passes(tab, 500);
    const [moved] = await edits(hands);
    assert.notEqual(moved, before[0]);
    if (by) assert.equal(moved, `pause client-a before write#1 for ${12_000 + by}ms`);
    await hands.undo();
    await done(tab).getByText(before[0]).waitFor();
    await hands.redo();
    await done(tab).getByText(moved).waitFor();
    await hands.undo();
    const field = tab.getByRole("textbox", { name: "Length of the pause of Client A, seconds" });
    await hands.type(field, "9.25");
    await hands.press(button(tab, "Length of the pause of Client A: 0.1 s more"));
    await done(tab).getByText("pause client-a before write#1 for 9350ms").waitFor();
  }],

  ["a branch is named, opened, compared, deleted and brought back", "lease-expiration?event=200", async (hands) => {
    const { tab } = hands;
    const first = await run(tab);
    await hands.type(tab.getByRole("textbox", { name: /^Add an edit/ }), "at 5s kill client-b");
    await hands.press(button(tab, "Add"));
    await changes(tab, first);
    const second = await run(tab);
    await hands.type(tab.getByRole("textbox", { name: /^Add an edit/ }), "at 6s kill client-a");
    await hands.press(button(tab, "Add"));
    await changes(tab, second);
    await unfold(hands, "branches");
    const branches = tab.getByRole("region", { name: "Branches" });
    const row = branches.getByRole("listitem").filter({ hasText: "at 5s kill client-b" }).first();
    await hands.press(row.locator("summary"));
    await hands.type(row.getByRole("textbox", { name: /^Name/ }), "of my own");
    await hands.press(button(row, "Rename"));
    await branches.getByText("of my own").first().waitFor();
    const named = branches.getByRole("listitem").filter({ hasText: "of my own" }).first();
    await hands.press(button(named, "Compare: of my own"));
    await dialog(tab).locator("#parting").waitFor();
    await hands.close();
    await dialog(tab).waitFor({ state: "detached" });
    await hands.press(button(named, "Open: of my own"));
    await tab.waitForFunction((wanted) => document.querySelector(".stage").getAttribute("data-run-hash") === wanted, second);
    await unfold(hands, "branches");
    const other = branches.getByRole("listitem").filter({ has: tab.locator(".branch-name", { hasText: "kill client-a" }) }).first();
    await hands.press(other.locator("summary"));
    await hands.press(button(other, /^Delete: /));
    await branches.getByText(/^Deleted: /).waitFor();
    await hands.press(button(branches, "Undo"));
    await branches.locator(".branch-name", { hasText: "kill client-a" }).waitFor();
  }],

  ["all work is saved to a file, and a file is loaded", "lease-expiration?event=200", async (hands) => {
    const { tab } = hands;
    await hands.type(tab.getByRole("textbox", { name: /^Add an edit/ }), "at 5s kill client-b");
    await hands.press(button(tab, "Add"));
    await done(tab).getByText("at 5s kill client-b").waitFor();
    await unfold(hands, "branches");
    await unfold(hands, "Your work");
    const saved = tab.waitForEvent("download");
    await hands.press(button(tab, "Save to a file"));
    const text = await readFile(await (await saved).path(), "utf8");
    const path = join(tmpdir(), `lockscope-deed-${process.pid}.json`);
    await writeFile(path, text.replaceAll("at 5s kill client-b", "at 6s kill client-b"));
    await hands.choose("Load a file", path);
    await tab.getByRole("status").getByText(/^Loaded/).waitFor();
    await tab.locator(".branch-name", { hasText: "at 6s kill client-b" }).waitFor();
  }],

  ["a run is taken along as link, diagram, picture, data and report", "lease-expiration?event=40", async (hands) => {
    const { tab } = hands;
    const copied = () => tab.evaluate(() => navigator.clipboard.readText());
    await hands.press(button(tab, "Export"));
    for (const [name, wanted] of [["Copy link", /#\/lesson\/lease-expiration\?/], ["Copy as Mermaid", /^sequenceDiagram/]]) {
      await hands.press(button(dialog(tab), name));
      await tab.waitForFunction(([source]) => navigator.clipboard.readText().then((text) => new RegExp(source).test(text)), [wanted.source]);
      assert.match(await copied(), wanted);
    }
    for (const [name, ending] of [["Download picture (SVG)", "svg"], ["Download run (JSON)", "json"], ["Download report (Markdown)", "md"]]) {
      const saved = tab.waitForEvent("download");
      await hands.press(button(dialog(tab), name));
      assert.equal((await saved).suggestedFilename(), `lockscope-lease-expiration.${ending}`);
    }
    await hands.close();
    await dialog(tab).waitFor({ state: "detached" });
  }],

  ["what a lesson offers to do on a real server is unfolded and copied", "one-redis", async (hands) => {
    const { tab } = hands;
    await unfold(hands, "Do it on your machine");
    await hands.press(button(tab, "Copy the lines"));
    await tab.locator(".notice").getByText("Lines copied.").waitFor();
    const typed = await tab.locator(".machine code").allInnerTexts();
    assert.ok(typed.length > 5 && typed[0].startsWith("redis-cli SET "), typed[0]);
    assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), typed.map((line) => `${line}\n`).join(""));
  }],

  ["why something happened, step by step, and why somebody does not go on", "lease-expiration?event=29", async (hands) => {
    const { tab } = hands;
    await hands.select();
    const chosen = tab.getByRole("region", { name: "Selected" });
    await hands.press(button(chosen, "Why?"));
    const answer = tab.locator("#why");
    await hands.press(answer.getByRole("listitem").getByRole("button").first());
    await answer.locator("[aria-current=true]").waitFor();
    await hands.press(button(answer, "Close"));
    await answer.waitFor({ state: "detached" });
    const program = tab.getByRole("group", { name: "Program" });
    await hands.press(button(program, "Client B"));
    await hands.press(button(tab, "Why not?"));
    await answer.getByText(/its lease must end/).waitFor();
    await hands.press(button(answer, "What decides it in this run"));
    await chosen.getByText("asks for the lock again").waitFor();
    await hands.press(button(chosen, "Clear"));
    await chosen.waitFor({ state: "detached" });
  }],

  ["the page is seen through the eyes of B, and the fog lifts", "lease-expiration?event=60", async (hands) => {
    const { tab } = hands;
    await hands.press(button(tab.getByRole("group", { name: "Program" }), "Client B"));
    await hands.press(button(tab, "See as Client B"));
    await tab.getByRole("img", { name: /^What Client B has seen/ }).waitFor();
    await hands.press(button(tab, "Lift the fog").first());
    await tab.getByRole("img", { name: /^Space-time diagram/ }).waitFor();
  }],

  ["something is selected in the diagram, in the topology, in the log, in a program", "lease-expiration?event=60", async (hands) => {
    const { tab } = hands;
    const chosen = tab.getByRole("region", { name: "Selected" });
    for (const [picture, view] of [[/^Space-time diagram/, null], [/^Topology/, "Topology"]]) {
      if (view) await hands.press(button(tab, view));
      await tab.getByRole("img", { name: picture }).waitFor();
      await hands.select();
      await chosen.waitFor();
      assert.ok((await tab.locator(".picture .lit").count()) > 0, "it is lit in the picture");
      await hands.press(button(chosen, "Clear"));
      await chosen.waitFor({ state: "detached" });
    }
    await hands.press(button(tab, "Topology"));
    await tab.getByRole("img", { name: /^Space-time diagram/ }).waitFor();
    const entry = tab.getByRole("region", { name: "Event by event" }).getByRole("button", { name: /Client A asks/ }).first();
    await hands.press(entry);
    await entry.and(tab.locator("[aria-current=step]")).waitFor();
    await hands.press(button(tab.getByRole("group", { name: "Program" }), "Client A"));
    await hands.press(button(tab.getByRole("region", { name: "Client A’s program" }), /^acquire/));
    await chosen.getByText(/Client A asks/).waitFor();
    await hands.press(button(tab.getByRole("table", { name: "What each one knows" }), "Resource"));
  }],

  ["the millisecond is found, and its run opened", "lease-expiration?event=200", async (hands) => {
    const { tab } = hands;
    await hands.press(button(tab, "Find the millisecond"));
    await hands.press(button(dialog(tab), /^Open the run with 9.201 ms/));
    await dialog(tab).waitFor({ state: "detached" });
    assert.deepEqual(await edits(hands), ["pause client-a before write#1 for 9201ms"]);
  }],

  ["every pause is tried, and a harmful one opened", "lease-expiration?event=200", async (hands) => {
    const { tab } = hands;
    const before = await edits(hands);
    await unfold(hands, "Proof in the small");
    await hands.press(button(tab, "Try every pause"));
    await tab.getByText(/^All \d+ schedules are tried/).waitFor({ timeout: 60_000 });
    await hands.press(tab.getByRole("row", { name: /^token/ }).getByRole("button").first());
    await tab.locator("#verdict", { hasText: "Corrupted" }).waitFor();
    assert.equal((await edits(hands))[0], "set resource.check token");
    await hands.undo();
    await done(tab).getByText(before[0]).waitFor();
  }],

  ["trying every pause is stopped, and begun again", "renewal-is-not-ownership?event=200", async (hands) => {
    const { tab } = hands;
    // On a slow machine there is time to stop it.
    const client = await tab.context().newCDPSession(tab);
    await client.send("Emulation.setCPUThrottlingRate", { rate: 12 });
    await unfold(hands, "Proof in the small");
    await hands.press(button(tab, "Try every pause"));
    await hands.press(button(tab, "Stop"));
    await tab.locator(".so-far", { hasText: /^Stopped after \d+ of \d+/ }).waitFor();
    await hands.press(button(tab, "Try again"));
    await button(tab, "Stop").waitFor();
  }],

  ["a defence is switched on and off, and both are compared", "lease-expiration?event=200", async (hands) => {
    const { tab } = hands;
    const was = await run(tab);
    const defence = tab.getByRole("switch", { name: "The resource checks the token" });
    await hands.toggle(defence);
    await changes(tab, was);
    assert.ok((await edits(hands)).includes("set resource.check token"));
    await hands.press(button(tab, "Compare on and off: The resource checks the token"));
    await hands.press(button(dialog(tab), "Open this run: Off"));
    await dialog(tab).waitFor({ state: "detached" });
    assert.equal(await run(tab), was);
  }],

  ["the story is followed, and a prediction made", "lease-expiration", async (hands) => {
    const { tab } = hands;
    const question = tab.getByRole("region", { name: "Before you go on" });
    for (let turns = 0; turns < 9 && !(await comes(question, 150)); turns += 1) {
      await hands.press(button(tab, /^(Begin|Next)$/));
    }
    await hands.mark(question.getByRole("radio").first());
    await hands.mark(question.getByRole("radio", { name: "70 %" }));
    await hands.press(button(question, "Commit"));
    await tab.getByText(/Noted\. The run decides\.|You said: /).first().waitFor();
  }],

  ["a card is sorted", "efficiency-or-correctness", async (hands) => {
    const { tab } = hands;
    const card = tab.getByRole("region", { name: /^Card \d+ of 12$/ });
    await hands.press(button(card, "Wrong"));
    await card.getByText(/^You said “wrong”/).waitFor();
    await hands.press(button(card, "Next card"));
    await card.getByText("Card 2 of 12").waitFor();
    await hands.press(button(tab, "Back to the story"));
    await button(tab, "Begin").waitFor();
  }],

  ["a point of the debate is heard, and all claims are seen side by side", "redlock-under-fire", async (hands) => {
    const { tab } = hands;
    const title = tab.locator("#point-title");
    await hands.press(button(tab, "K5: A master forgets"));
    await title.filter({ hasText: "K5" }).waitFor();
    await hands.press(button(tab, "It wrote before it answered"));
    await tab.locator(".hearing [aria-pressed=true]").filter({ hasText: "It wrote before it answered" }).waitFor();
    await hands.press(button(tab, "R5: A delayed restart"));
    await title.filter({ hasText: "R5" }).waitFor();
    await hands.press(button(tab, "All claims side by side, and what comes of it"));
    await hands.press(button(dialog(tab), "Asleep; A reads boot time"));
    await title.filter({ hasText: "K6" }).waitFor();
    await hands.press(button(tab, "Back to the story"));
    await button(tab, "Begin").waitFor();
  }],

  ["a label is pinned, falls off, and stays on another design", "redlock-under-fire", async (hands) => {
    const { tab } = hands;
    const pinning = tab.locator("#pinning");
    await hands.press(button(tab, "Pin the label “correctness-safe”"));
    await pinning.getByText(/fell off: 6 of 6/).waitFor();
    await hands.press(button(tab, "See the run: A write on its way for long"));
    await tab.locator("#verdict").getByText("Corrupted.").waitFor();
    await hands.press(tab.getByRole("switch", { name: "The resource compares versions" }));
    await hands.press(button(tab, "Pin the label “correctness-safe”"));
    await pinning.getByText(/stays: none of the 6/).waitFor();
  }],

  ["help and challenge are turned to, and a solution is shown", "lease-expiration", async (hands) => {
    const { tab } = hands;
    await hands.press(button(tab, "Help me"));
    await hands.press(button(tab, "Show a solution"));
    await tab.getByText("A solution is on screen").first().waitFor();
    await hands.press(button(tab, "Challenge"));
    await tab.getByRole("heading", { name: "Challenge" }).waitFor();
    await hands.press(button(tab, "Show me"));
  }],

  ["a run is played, stepped and scrubbed", "lease-expiration?event=29", async (hands) => {
    const { tab } = hands;
    // Whoever stops it is the hand, and not the story: from here no question comes for some seconds.
    await hands.press(button(tab, "Settings"));
    await hands.toggle(dialog(tab).getByRole("switch", { name: "Stop at beats" }));
    await hands.close();
    await dialog(tab).waitFor({ state: "detached" });
    const first = await step(tab);
    await hands.press(button(tab, "Play"));
    await tab.waitForFunction((from) => Number(document.querySelector(".stage").dataset.step) > from, first);
    await hands.press(button(tab, "Pause playing"));
    await button(tab, "Play").waitFor();
    const before = await step(tab);
    await hands.press(button(tab, "Step forward"));
    assert.equal(await step(tab), before + 1);
    await hands.press(button(tab, "Step back"));
    assert.equal(await step(tab), before);
    await hands.press(button(tab, "To the start"));
    assert.equal(await step(tab), 0);
    await hands.scrub(tab.getByRole("slider", { name: "Position in the run" }));
    await tab.waitForFunction(() => Number(document.querySelector(".stage").dataset.step) > 1);
  }],

  ["a case that happened is opened from the list, with what an operator saw", "lease-expiration", async (hands) => {
    const { tab } = hands;
    await hands.press(tab.getByRole("link", { name: "Lockscope" }).first());
    await hands.press(tab.getByRole("link", { name: /^The stale lock was removed/ }).first());
    await tab.locator(".stage[data-run-hash]").waitFor();
    await tab.getByRole("link", { name: "bman654/clodex#8" }).waitFor();
    await hands.press(button(tab, "Begin"));
  }],
];
