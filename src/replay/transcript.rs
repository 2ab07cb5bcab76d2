//! Transcripts of real servers as JSON Lines: what was asked, what was answered, what came unasked.

use serde_json::{Map, Value};

/// A transcript.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Which system: `redis`, `redlock`.
    pub system: String,
    /// Of which version, such as `redis 7.0.15`.
    pub version: String,
    /// How the servers were started.
    pub server: String,
    /// What it shows, in a sentence; it may say nothing.
    pub establishes: String,
    /// What its first line says that nobody asks for.
    pub unknown: Option<String>,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// What the values of different steps must be to each other.
    pub order: Vec<String>,
    /// The line that says so.
    pub last_line: usize,
}

/// One step: a client's command or a change of the world, its answer, and what came after it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its line in the file.
    pub line: usize,
    /// Its number.
    pub number: u64,
    /// Whose it is; `env` changes the world.
    pub client: String,
    /// What it is called.
    pub name: String,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// The words that were sent, where it is a command.
    pub argv: Option<Vec<String>>,
    /// The server that it was sent to, where there are several.
    pub node: Option<String>,
    /// What was answered.
    pub reply: Value,
    /// What came unasked after it, in the order of the file.
    pub events: Vec<Event>,
    /// What its line says that nobody asks for, or does not say: `with …` or `without …`.
    pub wrong: Option<String>,
}

/// What a server said unasked, or late.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its line in the file.
    pub line: usize,
    /// Who heard it.
    pub client: String,
    /// What.
    pub what: Value,
    /// What its line says that nobody asks for.
    pub unknown: Option<String>,
}

/// What is wrong with a line of a transcript.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    /// What was found and what was expected.
    pub message: String,
}

/// A field of a line that nobody asks for, by name; a `note` is for people.
fn unknown(fields: &Value, known: &[&str]) -> Option<String> {
    let mut fields = fields.as_object()?.iter();
    let strange = fields.find(|(name, _)| !known.contains(&name.as_str()) && *name != "note");
    strange.map(|(name, value)| format!("`{name}` {value}"))
}

fn malformed<T>(line: usize, message: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed { line, message: message.into() })
}

/// Reads a transcript.
///
/// # Errors
/// The first line that has not the form of one.
pub fn read(text: &str) -> Result<Transcript, Malformed> {
    let mut transcript = Transcript {
        system: String::new(),
        version: String::new(),
        server: String::new(),
        establishes: String::new(),
        unknown: None,
        steps: Vec::new(),
        order: Vec::new(),
        last_line: 0,
    };
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => return malformed(number, format!("this is no JSON: {error}")),
        };
        if transcript.last_line > 0 {
            return malformed(number, "found another line after `order`, which is the last one");
        }
        let first = transcript.system.is_empty();
        match (value.get("meta"), first) {
            (Some(meta), true) => transcript.meta(number, meta)?,
            (None, false) => transcript.line(number, &value)?,
            (Some(_), false) => return malformed(number, "found a second `meta`"),
            (None, true) => return malformed(number, "expected `meta` in the first line"),
        }
    }
    if transcript.system.is_empty() {
        return malformed(1, "expected `meta` in the first line");
    }
    if transcript.last_line == 0 {
        let end = text.lines().count();
        return malformed(end, "expected a last line with `order` and `symbols`");
    }
    Ok(transcript)
}

impl Transcript {
    fn meta(&mut self, line: usize, meta: &Value) -> Result<(), Malformed> {
        if meta.get("format").and_then(Value::as_u64) != Some(1) {
            return malformed(line, "expected `format` 1, the only one that is known");
        }
        let text = |name: &str| match meta.get(name).and_then(Value::as_str) {
            Some(text) => Ok(text.to_string()),
            None => malformed(line, format!("expected a text `{name}` in `meta`")),
        };
        self.system = text("system")?;
        self.version = text("version")?;
        self.server = text("server")?;
        self.establishes =
            meta.get("establishes").and_then(Value::as_str).unwrap_or_default().to_string();
        let known = ["format", "system", "scenario", "version", "server", "client", "establishes"];
        self.unknown = unknown(meta, &known);
        if self.system.is_empty() {
            return malformed(line, "found an empty `system`");
        }
        Ok(())
    }

    fn line(&mut self, line: usize, value: &Value) -> Result<(), Malformed> {
        if value.get("step").is_some() {
            let step = step(line, value, self.steps.len() as u64 + 1)?;
            self.steps.push(step);
            return Ok(());
        }
        if let Some(what) = value.get("event") {
            let after = value.get("after_step").and_then(Value::as_u64);
            let client = value.get("client").and_then(Value::as_str);
            let (Some(after), Some(client)) = (after, client) else {
                return malformed(line, "expected `client` and `after_step` beside `event`");
            };
            let Some(step) = self.steps.iter_mut().find(|step| step.number == after) else {
                return malformed(line, format!("there is no step {after} before this event"));
            };
            let unknown = unknown(value, &["event", "after_step", "client"]);
            step.events.push(Event { line, client: client.into(), what: what.clone(), unknown });
            return Ok(());
        }
        match value.get("order").and_then(Value::as_array) {
            Some(order) => {
                self.last_line = line;
                let texts = order.iter().map(|text| text.as_str().map(String::from));
                let Some(order) = texts.collect() else {
                    return malformed(line, "expected texts in `order`");
                };
                self.order = order;
                match unknown(value, &["order", "symbols"]) {
                    Some(field) => malformed(line, format!("found {field} beside `order`")),
                    None => Ok(()),
                }
            }
            None => malformed(line, "expected `step`, `event` or `order`"),
        }
    }
}

fn step(line: usize, value: &Value, expected: u64) -> Result<Step, Malformed> {
    let number = value.get("step").and_then(Value::as_u64);
    if number != Some(expected) {
        return malformed(line, format!("expected step {expected}: steps have no gaps"));
    }
    let (Some(client), Some(op), Some(reply)) =
        (value.get("client").and_then(Value::as_str), value.get("op"), value.get("reply"))
    else {
        return malformed(line, "expected `client`, `op` and `reply` beside `step`");
    };
    let Some(name) = op.get("name").and_then(Value::as_str) else {
        return malformed(line, "expected a text `name` in `op`");
    };
    if reply.get("type").and_then(Value::as_str).is_none() {
        return malformed(line, "expected a text `type` in `reply`");
    }
    let words = |argv: &Value| {
        let words = argv.as_array()?.iter().map(|word| word.as_str().map(String::from));
        words.collect::<Option<Vec<String>>>()
    };
    let argv = match op.get("argv") {
        None => None,
        Some(argv) => match words(argv) {
            Some(words) => Some(words),
            None => return malformed(line, "expected texts in `argv`"),
        },
    };
    let args = match op.get("args") {
        None => Map::new(),
        Some(Value::Object(args)) => args.clone(),
        Some(_) => return malformed(line, "expected an object `args` in `op`"),
    };
    let node = match op.get("node") {
        None => None,
        Some(Value::String(node)) => Some(node.clone()),
        Some(_) => return malformed(line, "expected a text `node` in `op`"),
    };
    let strange = unknown(value, &["step", "client", "op", "reply"])
        .or_else(|| unknown(op, &["name", "args", "argv", "node"]))
        .map(|field| format!("with {field}"));
    // What is not sent word for word is nothing but its arguments, even where it has none.
    let bare = argv.is_none() && op.get("args").is_none();
    let wrong = strange.or_else(|| bare.then(|| "without `args`".into()));
    // A sentence about the step names it by `name`, and it is played by its words.
    if let Some(first) = argv.as_ref().and_then(|words| words.first())
        && !first.eq_ignore_ascii_case(name)
    {
        return malformed(line, format!("`name` is {name}, and the first word sent was {first}"));
    }
    Ok(Step {
        line,
        number: expected,
        client: client.into(),
        name: name.into(),
        args,
        argv,
        node,
        reply: reply.clone(),
        events: Vec::new(),
        wrong,
    })
}
