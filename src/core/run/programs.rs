//! The clients' programs of a scenario, read line by line with located errors.

use std::rc::Rc;

use super::address::Names;
use super::plan::{Builder, Programs, place_of};
use super::scenario::ClientSpec;
use crate::sim::{self, Instr, Scanner, Task, Trigger, local_name};
use crate::systems::{Op, Vocabulary, link_writes, parse_word};

impl Builder<'_> {
    pub(super) fn programs(&mut self, names: &mut Names, vocabulary: &mut Vocabulary) -> Programs {
        let scenario = self.scenario;
        let mut programs = Vec::new();
        for (id, client) in &scenario.clients {
            let (tasks, locals) = self.program(id, client, vocabulary);
            names.tasks.push(tasks.iter().map(|t| t.name.clone()).collect());
            let lines = |t: &Task<Op>| t.lines.iter().map(|l| l.text.clone()).collect();
            names.programs.push(tasks.iter().map(lines).collect());
            names.locals.push(locals.locals.clone());
            programs.push((Rc::new(tasks), locals));
        }
        for _ in programs.len()..names.nodes.len() {
            names.tasks.push(Vec::new());
            names.programs.push(Vec::new());
            names.locals.push(Vec::new());
            programs.push((Rc::new(Vec::new()), sim::Names::default()));
        }
        if self.errors.is_empty() {
            self.check_claims(&programs, vocabulary);
        }
        programs
    }

    /// Somebody has to hear a claim.
    fn check_claims(&mut self, programs: &Programs, vocabulary: &Vocabulary) {
        let (scenario, locked) = (self.scenario, vocabulary.locked());
        for ((id, client), (tasks, _)) in scenario.clients.iter().zip(programs) {
            let main = [vec!["program"]].into_iter();
            let others = client.tasks.keys().map(|name| vec!["tasks", name.as_str()]);
            let handlers = client.on.keys().map(|name| vec!["on", name.as_str()]);
            for (task, tail) in tasks.iter().zip(main.chain(others).chain(handlers)) {
                for (number, line) in task.lines.iter().enumerate() {
                    let Instr::Call(Op::Claim { lock, .. }) = &line.instr else { continue };
                    if locked.iter().any(|l| l.0 == *lock) {
                        continue;
                    }
                    let name = vocabulary.locks.get(usize::from(lock.0)).map_or("?", |n| n);
                    let message =
                        format!("the lock `{name}` guards no cell, so nobody hears a claim");
                    let number = number.to_string();
                    let path = [&["clients", id.as_str()][..], &tail, &[&number]].concat();
                    self.wrong(&path, place_of(&line.text, name), message);
                }
            }
        }
    }

    fn program(
        &mut self,
        id: &str,
        client: &ClientSpec,
        vocabulary: &mut Vocabulary,
    ) -> (Vec<Task<Op>>, sim::Names) {
        let mut sources =
            vec![("main".to_string(), Trigger::Start, &client.program, vec!["program"])];
        for (name, lines) in &client.tasks {
            sources.push((name.clone(), Trigger::Start, lines, vec!["tasks", name]));
        }
        for (name, lines) in &client.on {
            let trigger = Trigger::Notice(name.clone());
            sources.push((format!("on {name}"), trigger, lines, vec!["on", name]));
            if name != "lost" && name != "undo" {
                self.wrong(
                    &["clients", id, "on", name],
                    0,
                    "found no such notice, expected `lost` or `undo`",
                );
            }
        }
        let tasks = sources.iter().map(|s| s.0.clone()).collect();
        let mut locals = sim::Names { tasks, ..sim::Names::default() };
        let mut tasks = Vec::new();
        for (name, trigger, lines, tail) in sources {
            let mut word = |s: &mut Scanner<'_>, n: &mut sim::Names| parse_word(s, n, vocabulary);
            let (written, mut lines) = (lines, lines.clone());
            // A faulty line gives way to a harmless one, so that the mistakes below it show too.
            loop {
                match sim::parse(&lines, &mut locals, &mut word) {
                    Ok(mut parsed) => {
                        link_writes(&mut parsed);
                        for (line, text) in parsed.iter_mut().zip(written) {
                            line.text.clone_from(text);
                        }
                        tasks.push(Task { name, trigger, lines: parsed });
                        break;
                    }
                    Err((line, mut error)) => {
                        let unknown = error.message.starts_with("there is no");
                        if let Some(text) = lines.get(line).filter(|_| unknown) {
                            error.message += &set_elsewhere(client, &tasks, text, error.at);
                        }
                        let number = line.to_string();
                        let path = [&["clients", id][..], &tail, &[&number]].concat();
                        self.wrong(&path, error.at, error.message);
                        let blank = lines.get(line).map(|l| harmless(l));
                        match lines.get_mut(line).zip(blank) {
                            Some((faulty, blank)) if *faulty != blank => *faulty = blank,
                            _ => break,
                        }
                    }
                }
            }
        }
        (tasks, locals)
    }
}

/// A line that does nothing but define what this one would have defined.
fn harmless(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let local = match words.as_slice() {
        ["let", name, ..] | ["read", _, "as", name, ..] | ["read", name, ..] => *name,
        _ => return String::new(),
    };
    let named = local.chars().all(|c| c.is_alphanumeric() || c == '_');
    if named && local_name(&mut Scanner::new(local)).is_ok() {
        format!("let {local} = 0")
    } else {
        String::new()
    }
}

/// For a name that a line does not know: what to do where another task of the client sets it.
fn set_elsewhere(client: &ClientSpec, read: &[Task<Op>], text: &str, at: usize) -> String {
    let word: String =
        text.chars().skip(at).take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let sets = |line: &&String| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["let", name, ..] | ["read", _, "as", name, ..] | ["read", name, ..] => *name == word,
            _ => false,
        }
    };
    let tasks = client.tasks.iter().chain(&client.on).skip(read.len());
    let mut others = tasks.filter(|(_, lines)| lines.iter().any(|l| sets(&l)));
    match others.next() {
        Some((name, _)) if !word.is_empty() => format!(
            "; the task `{name}` sets it, and all tasks of a client share their locals: give it a first \
             value here, such as `let {word} = 0`"
        ),
        _ => String::new(),
    }
}
