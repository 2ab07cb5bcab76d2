//! The words of programs, edits, assertions and front matter, each with an example that is tested.

/// A line of a language: its form, an example of it, what it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// With what varies in capitals, and what may be left out in brackets.
    pub form: &'static str,
    /// A line that can be read.
    pub example: &'static str,
    /// In one or two sentences.
    pub about: &'static str,
    /// For words of programs: how the call can end.
    pub outcomes: &'static [&'static str],
}

const fn form(form: &'static str, example: &'static str, about: &'static str) -> Form {
    Form { form, example, about, outcomes: &[] }
}

const fn call(
    name: &'static str,
    example: &'static str,
    outcomes: &'static [&'static str],
    about: &'static str,
) -> Form {
    Form { form: name, example, about, outcomes }
}

/// Lines of a program.
pub const WORDS: &[Form] = &[
    call(
        "acquire [LOCK] [shared] [within DURATION]",
        "acquire within 5s",
        &["ok", "timeout", "closed"],
        "Asks for a lock, the first one where none is named, and waits until it is granted, or for \
         at most that long. A grant begins a belief and, where none is open, a section.",
    ),
    call(
        "enter [LOCK] [shared]",
        "enter",
        &["ok", "refused", "closed"],
        "In a system with a queue that clients keep: takes a place at its end, which is the first of the          four steps of `acquire`.",
    ),
    call(
        "list [LOCK]",
        "list",
        &["ok", "refused", "lost", "closed"],
        "Reads the queue. Ok: nobody is before it, and a belief begins. Refused: somebody is. Lost: its          own place is gone.",
    ),
    call(
        "watch [LOCK]",
        "watch",
        &["ok", "refused", "closed"],
        "Asks to be told when what stood before it in the list is gone. Refused: it is gone already.",
    ),
    call(
        "await [LOCK]",
        "await",
        &["ok", "refused", "lost"],
        "Waits until it is told. Ok: something is gone, so it has to list again. Refused: it watches \
         nothing. Lost: its session is over.",
    ),
    call(
        "renew [LOCK]",
        "renew",
        &["ok", "refused", "timeout", "closed"],
        "Asks the service for more time. A refusal ends the belief; no answer changes nothing.",
    ),
    call(
        "release [LOCK]",
        "release",
        &["ok", "refused", "timeout", "closed"],
        "Ends the belief and the section, and tells the service. Refused: the grant was over.",
    ),
    call(
        "check [LOCK]",
        "check",
        &["ok", "lost"],
        "Compares the client's own deadline with its own clock; no message is sent. Lost ends the \
         belief.",
    ),
    call(
        "give-up [LOCK]",
        "give-up",
        &["ok"],
        "Declares the lock lost by its own decision: ends belief and section, tells nobody, and runs \
         no handler.",
    ),
    call(
        "read CELL [as LOCAL] [under LOCK] [within DURATION]",
        "read balance as seen",
        &["ok", "rejected", "timeout", "closed"],
        "Reads a cell into a local of the same name, or of the name after `as`.",
    ),
    call(
        "write CELL = EXPRESSION [under LOCK] [where CONDITION] [within DURATION]",
        "write balance = balance - 10 where version",
        &["ok", "rejected", "timeout", "closed"],
        "Writes a cell; the expression is over locals. It carries the token of the latest grant of the \
         lock that guards the cell, or of the one that `under` names. The \
         condition is `version` (still the one that this section read) or an expression over the \
         cells of that resource and the locals; the resource looks at it as it writes.",
    ),
    call(
        "insert CELL = EXPRESSION [under LOCK] [within DURATION]",
        "insert balance = 1",
        &["ok", "rejected", "timeout", "closed"],
        "Writes a cell that nobody has written yet, as a unique key does.",
    ),
    call(
        "claim [LOCK] [within DURATION]",
        "claim",
        &["ok", "rejected", "timeout", "closed"],
        "Makes the token known to every resource that the lock guards, or that a program names it for \
         with `under`, and touches no cell.",
    ),
    call("begin", "begin", &["ok"], "Begins a section, as a grant does; an open one starts over."),
    call("abort", "abort", &["ok"], "Gives the section up by intention; that tears nothing."),
    call(
        "job NAME",
        "job invoice-7",
        &["ok"],
        "Names the section's work: done twice under one name, it is duplicate work.",
    ),
    form("work DURATION", "work 1s", "Uses the processor for that long; a pause stretches it."),
    form("sleep DURATION", "sleep 250ms", "Waits for a timer on the monotonic clock."),
    form("let LOCAL = EXPRESSION", "let left = 3", "Sets a local, shared by all tasks."),
    form("LABEL:", "again:", "A place to go to; nothing happens here."),
    form("goto LABEL", "goto again", "Goes on at the label."),
    form(
        "if [not] OUTCOME goto LABEL",
        "if not ok goto again",
        "Goes to the label if the last call of this task ended so.",
    ),
    form(
        "if EXPRESSION goto LABEL",
        "if left > 0 goto again",
        "Goes to the label if the expression is not 0.",
    ),
    form("loop", "loop", "Repeats the lines down to `end` for ever."),
    form("repeat NUMBER", "repeat 3", "Repeats the lines down to `end` that often."),
    form("end", "end", "Ends the lines of a `loop` or `repeat`."),
    form("break", "break", "Leaves the innermost loop."),
    form("stop [TASK]", "stop", "Ends this task, or the one with that name."),
    form("# WORDS", "# a remark", "A remark; so is an empty line."),
];

/// Edits.
pub const EDITS: &[Form] = &[
    form(
        "at TIME pause NODE for DURATION",
        "at 3s pause client-a for 12s",
        "The process stops; its clocks run on. Pauses that overlap unite.",
    ),
    form(
        "pause NODE at TIME for DURATION",
        "pause client-a at 3s for 12s",
        "The same in another order.",
    ),
    form(
        "pause CLIENT before WORD#N for DURATION",
        "pause client-a before write#1 for 12s",
        "It stops just before its main program executes that word for the N-th time.",
    ),
    form(
        "at TIME suspend NODE for DURATION",
        "at 3s suspend client-a for 12s",
        "Its host sleeps: it stops, and its monotonic clock stands still.",
    ),
    form(
        "at TIME freeze NODE for DURATION",
        "at 3s freeze client-a for 12s",
        "A virtual machine is stopped: it stops, and all its clocks stand still and stay behind. \
         `suspend` and `freeze` also take `before WORD#N`.",
    ),
    form(
        "at TIME pause CLIENT.TASK for DURATION",
        "at 3s pause client-b.main for 9s",
        "One task stops; the others go on. Also `before WORD#N`.",
    ),
    form(
        "at TIME cut NODE NODE [for DURATION]",
        "at 5s cut client-a lock-service for 6s",
        "Both ways between two nodes are cut, for that long or until healed. Messages are held.",
    ),
    form(
        "at TIME cut NODE>NODE [for DURATION]",
        "at 5s cut client-a>lock-service",
        "One way only.",
    ),
    form(
        "at TIME cut {NODE NODE}|{NODE NODE} [for DURATION]",
        "at 5s cut {client-a client-b}|{lock-service} for 2s",
        "Every way between the two groups.",
    ),
    form(
        "at TIME heal NODE NODE",
        "at 9s heal client-a lock-service",
        "What was cut is whole again, in the same three forms. Held messages go on.",
    ),
    form(
        "at TIME fail-over SERVER to SERVER",
        "at 4s fail-over redis-a to redis-b",
        "A replica takes the place of its master, with what it has until then.",
    ),
    form(
        "at TIME evict SERVER LOCK",
        "at 4s evict redis-a lock",
        "The server throws the lock's key out, as it does where memory is short.",
    ),
    form(
        "at TIME kill NODE",
        "at 2s kill client-a",
        "The process dies with all it had in memory; `crash` is another word for it.",
    ),
    form(
        "at TIME power-off NODE",
        "at 2s power-off resource",
        "Its machine loses power: what was not synced to the disk is gone too, and its peers are \
         told nothing.",
    ),
    form(
        "at TIME shut-down NODE",
        "at 2s shut-down resource",
        "An orderly end: all that was written is synced first.",
    ),
    form(
        "at TIME restart NODE",
        "at 6s restart client-a",
        "A dead process starts from its first line.",
    ),
    form(
        "drop NODE>NODE#N",
        "drop client-a>resource#1",
        "The N-th message of that pair is lost, and all behind it on its stream.",
    ),
    form(
        "delay NODE>NODE#N by DURATION",
        "delay client-a>resource#1 by 4s",
        "The N-th message of that pair is held, and all behind it on its stream.",
    ),
    form(
        "duplicate NODE>NODE#N [by DURATION]",
        "duplicate client-a>resource#1 by 4s",
        "A copy of the N-th message arrives too, on a connection of its own, one latency or that \
         much later.",
    ),
    form(
        "at TIME clock NODE +DURATION",
        "at 4s clock lock-service +8s",
        "Its wall clock is set forward; with `-`, back. A year at most.",
    ),
    form(
        "at TIME rate NODE RATIO",
        "at 4s rate client-a 4/5",
        "All its clocks run at that speed from then on: from `1/1000` to `1000`.",
    ),
    form(
        "send RESOURCE TOKEN",
        "send resource 42",
        "Somebody sends a token by hand at the start: the resource compares it and writes nothing.",
    ),
    form("at TIME send RESOURCE TOKEN", "at 3s send resource 42", "The same at a moment."),
    form("set SETTING VALUE", "set resource.check token", "A setting, for the whole run."),
    form("at TIME set SETTING VALUE", "at 6s set lease.ttl 20s", "A setting, from then on."),
];

/// Assertions.
pub const ASSERTIONS: &[Form] = &[
    form(
        "EXPRESSION",
        "stale_accepted == 1 and balance == 90",
        "Not 0 over the figures of the verdict, the metrics, and the cells at the end. A figure \
         that is null fails.",
    ),
    form(
        "FIGURE == null",
        "duplicate_work == null",
        "The figure does not arise in this run; `!= null`: it does.",
    ),
    form(
        "EVENT before EVENT [before EVENT]...",
        "expire client-a#1 before write client-a#1 token 41",
        "These events happen in this order; each may have its facts, as below.",
    ),
    form(
        "EVENT [at TIME] [token NUMBER] [value NUMBER]",
        "accept client-a#1 token 41 value 90",
        "The event happens: then, with that token, with that value (what is read or written; of a \
         `check`, 1 for yes and 0 for no; of a `count`, for how many \
         microseconds the client may act, 0 where it may not).",
    ),
    form("no EVENT", "no reject client-a", "The event does not happen."),
    form(
        "setting SETTING VALUE",
        "setting resource.check token",
        "The setting has that value from the start to the end.",
    ),
    form(
        "at most NUMBER faults",
        "at most 2 faults",
        "No more edits than that break something: settings, restarts, repairs and tokens by hand do not.",
    ),
];

/// A key of the front matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// With tables before dots; `[]` for each of a list, `NAME` for any name.
    pub path: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// As it is where it is left out; none where it has to be there.
    pub default: Option<&'static str>,
    /// In one sentence.
    pub about: &'static str,
}

const fn key(
    path: &'static str,
    takes: &'static str,
    default: Option<&'static str>,
    about: &'static str,
) -> Key {
    Key { path, takes, default, about }
}

/// Keys of the front matter.
pub const KEYS: &[Key] = &[
    key("id", "id", None, "The lesson's name; a file `NN-ID.md` has to bear it."),
    key("title", "text", None, "The title."),
    key("minutes", "number 1 to 60", None, "How long it takes."),
    key("class", "correctness or efficiency", None, "What two holders would do: harm, or waste."),
    key("covers", "list of atoms such as A4", Some("[]"), "Parts of the curriculum."),
    key(
        "faults",
        "list of at most four out of pause, suspend, freeze, cut, crash, clock, delay, drop, duplicate, send",
        Some("[]"),
        "The kinds of fault that the page offers.",
    ),
    key("hook", "text", None, "One sentence that opens the lesson: a concrete incident."),
    key("say", "text", None, "One sentence to say aloud at the end."),
    key("scenario.system", "text", None, "The lock service, one of `systems`."),
    key("scenario.until", "duration", Some("60s"), "The latest end of the run."),
    key("scenario.seed", "number", Some("1"), "The key of all randomness."),
    key("scenario.settings", "table of texts or numbers", Some("{}"), "Settings by dotted key."),
    key("scenario.locks", "list of names", Some("[\"lock\"]"), "The locks."),
    key("scenario.cells", "table of numbers", Some("{}"), "Cells of the node `resource`."),
    key(
        "scenario.gateway",
        "true or false",
        Some("false"),
        "A node `gateway` before the resources.",
    ),
    key("scenario.invariant", "expression", Some("none"), "Over the cells and `done`: must hold."),
    key(
        "scenario.resources.ID.cells",
        "table of numbers",
        Some("{}"),
        "Cells of another resource.",
    ),
    key("scenario.resources.ID.lock", "name", Some("the first"), "The lock that guards them."),
    key("scenario.resources.ID.label", "text", Some("from the id"), "What it is called."),
    key("scenario.clients.ID.program", "list of lines", None, "The main program."),
    key("scenario.clients.ID.start", "duration", Some("0s"), "When the process starts."),
    key("scenario.clients.ID.label", "text", Some("from the id"), "What it is called."),
    key("scenario.clients.ID.tasks.NAME", "list of lines", Some("none"), "A task beside it."),
    key(
        "scenario.clients.ID.on.lost",
        "list of lines",
        Some("none"),
        "What it does when it learns that it lost a lock.",
    ),
    key(
        "scenario.clients.ID.on.undo",
        "list of lines",
        Some("none"),
        "How it takes back what it did, under `renew.failure = \"stop-and-undo\"`.",
    ),
    key("scenario.clients.ID.copies", "1 to 60", Some("none"), "So many of it: `ID-01`, `ID-02`."),
    key("scenario.clients.ID.every", "duration", Some("0s"), "By how much each copy starts later."),
    key("variants.NAME.title", "text", Some("from the name"), "What its tab is called."),
    key("variants.NAME.edits", "list of edits", Some("[]"), "What happens to the scenario."),
    key("variants.NAME.expect", "list of assertions", None, "What must come out."),
    key("variants.NAME.shows", "text", None, "What its run shows, where words link to it."),
    key("variants.NAME.at", "event", None, "Where a link to it arrives."),
    key("variants.NAME.gateway", "true or false", Some("false"), "A gateway for this variant."),
    key(
        "variants.NAME.settings",
        "table of texts or numbers",
        Some("{}"),
        "Settings in place of those above, for what no edit can change.",
    ),
    key("variants.NAME.cells", "table of numbers", Some("none"), "Cells in place of all above."),
    key(
        "variants.NAME.invariant",
        "expression",
        Some("none"),
        "An invariant in place of that above.",
    ),
    key("variants.NAME.clients", "clients by id", Some("{}"), "Clients that replace those above."),
    key("defence[].title", "text", None, "What a switch beside the stage is called."),
    key("defence[].edit", "edit", None, "The edit that it adds."),
    key("predict[].id", "id", None, "The prediction's name."),
    key("predict[].question", "text", None, "The question."),
    key("predict[].at", "event", None, "The event just after which it is asked."),
    key("predict[].variant", "name", Some("base"), "The variant in which it is asked."),
    key("predict[].answers[].text", "text", None, "One of two to four answers."),
    key("predict[].answers[].when", "assertion", None, "What makes it come true in a run."),
    key(
        "predict[].answers[].misconception",
        "M1 to M20",
        Some("none"),
        "Where a wrong answer comes from; every one that does not come true names it.",
    ),
    key("predict[].shown", "event", None, "The event that shows the answer."),
    key(
        "predict[].look",
        "true or false",
        Some("false"),
        "Asks what happened at the resource before it is explained; there has to be a late write.",
    ),
    key("predict[].why", "text", None, "Why, in a sentence or two."),
    key("recall[].question", "text", None, "A question at the end."),
    key("recall[].answer", "text", None, "The answer to compare with."),
    key("recall[].from", "id", Some("this lesson"), "The lesson that it goes back to."),
    key("task[].level", "help or challenge", None, "How much is left to the learner."),
    key("task[].goal", "text", None, "What to bring about, in words."),
    key("task[].variant", "name", Some("base"), "The variant that it begins with."),
    key("task[].steps[].text", "text", None, "A step towards it; a challenge has none."),
    key("task[].steps[].done", "assertion", None, "What has to hold of the run."),
    key("task[].steps[].hint", "text", Some("none"), "A hint for whoever asks for one."),
    key("task[].done", "list of assertions", None, "What has to hold of the run: all of it."),
    key("task[].hint", "text", Some("none"), "A hint for whoever asks for one."),
    key("task[].solution", "list of edits", None, "All edits of a run in which it holds."),
    key("card[].text", "text", None, "A case to sort into one of two trays."),
    key(
        "card[].tray",
        "correctness or efficiency",
        None,
        "Where it belongs: its run turns the invariant false, or does a job twice without harm.",
    ),
    key(
        "card[].variant",
        "name",
        None,
        "Whose run shows it; its title is what the card is called.",
    ),
    key("card[].misconception", "M1 to M20", None, "Where the other tray comes from."),
    key("card[].why", "text", None, "Why, in a sentence or two."),
    key("debate[].id", "four letters or digits", None, "The name of a point, such as K4."),
    key("debate[].by", "text", None, "Who makes it; two people speak."),
    key("debate[].title", "text", None, "What it is about, in a few words."),
    key("debate[].claim", "text", None, "What is claimed, in our words."),
    key("debate[].runs[].variant", "name", None, "One of up to eight runs that show it."),
    key("debate[].runs[].shows", "text", None, "What that run shows."),
    key("debate[].answers", "list of points", Some("[]"), "The other’s points that it answers."),
    key("debate[].gave_up", "text", Some("none"), "What its speaker gave up in the exchange."),
    key("debate[].evidence", "id", None, "The evidence for who said so."),
    key("verdict[].when", "text", None, "What may fail: a row of the end of a debate."),
    key(
        "verdict[].correctness",
        "name",
        None,
        "The variant that shows what comes of it where two at once would be wrong.",
    ),
    key(
        "verdict[].efficiency",
        "name",
        None,
        "The variant that shows it where two at once would be wasteful.",
    ),
    key("verdict[].says", "text", None, "What follows."),
    key("pin.label", "text", Some("none"), "A label that a design has to earn."),
    key(
        "pin.attacks",
        "list of names",
        Some("none"),
        "Variants that are tried on the design; each does harm to one without defences.",
    ),
    key(
        "pin.needs",
        "edit",
        Some("none"),
        "The defence with which the label stays, and without which it falls off.",
    ),
    key("evidence[].id", "id", None, "Its name in the words: `[^ID]`."),
    key(
        "evidence[].kind",
        "recorded, source, document, inference or disputed",
        None,
        "What kind of evidence it is.",
    ),
    key("evidence[].says", "text", None, "What exactly it says."),
    key("evidence[].where", "text", None, "Who says it, and where: a title, a chapter."),
    key("machine[].title", "text", None, "What it shows."),
    key("machine[].needs", "text", None, "What has to be there."),
    key("machine[].lines[].type", "text", None, "A line to type, at most twelve of them."),
    key("machine[].lines[].prints", "text", Some("nothing"), "What it prints."),
    key("machine[].lines[].note", "text", Some("none"), "A remark behind it."),
    key(
        "report.thread",
        "OWNER/PROJECT#NUMBER",
        Some("none"),
        "The public thread that a case tells of; a case needs no `[teach]`.",
    ),
    key("report.symptom", "text", Some("none"), "What an operator would have seen."),
    key("teach.script[].minute", "number 0 to 9", None, "From which minute on."),
    key("teach.script[].say", "text", None, "What the teacher says, in a few sentences."),
    key("teach.script[].show", "id of a beat", Some("nothing"), "What is on the wall meanwhile."),
    key("teach.board", "text", None, "A sketch to draw, in lines of at most 72 characters."),
    key("teach.discuss[].question", "text", None, "A question to talk about."),
    key("teach.discuss[].answer", "text", None, "What a good answer says."),
];
