//! The words of a lesson: a small subset of Markdown into a closed tree of blocks.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::front::{is_id, one_of, short};
use super::place::Source;
use crate::lesson::model::{BASE, Beat, Block, Inline, Level, Line, Place, Target};

pub const MOST_BEATS: usize = 40;
/// How deep lists and quotes may nest; deeper words would be hard to read, and to draw.
pub const DEEPEST: usize = 12;
const KNOWN: &str = "paragraphs, lists, quotes, code, *emphasis*, **strong**, `code`, links, \
                     marks `[^id]`, and headings `## Title {#id at=\"EVENT\"}`";

/// A beat, and where in the file its event stands.
#[derive(Debug)]
pub struct Draft {
    pub beat: Beat,
    pub at_byte: usize,
    pub variant_byte: usize,
}

/// The words before the first beat, and the beats.
#[derive(Debug, Default)]
pub struct Body {
    /// How many headings there are, those with mistakes included.
    pub headings: usize,
    pub intro: Vec<Block>,
    pub beats: Vec<Draft>,
    /// Marks behind claims and links to runs: what each names, and its byte.
    pub evidence: Vec<(String, usize)>,
    pub runs: Vec<(String, usize)>,
}

/// Reads the words from `base` to the end of the file. `exists` knows the files of other lessons.
pub fn body(source: &mut Source<'_>, base: usize, exists: &dyn Fn(&str) -> bool) -> Body {
    let text = source.text.get(base..).unwrap_or("");
    let mut reader = Reader {
        source,
        base,
        exists,
        stack: Vec::new(),
        too_deep: 0,
        body: Body::default(),
        heading: None,
        links: Vec::new(),
    };
    // The older footnotes need no definition among the words: theirs stands in the front matter.
    let options = Options::ENABLE_HEADING_ATTRIBUTES | Options::ENABLE_OLD_FOOTNOTES;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.event(event, range);
    }
    reader.check_links();
    reader.body
}

#[derive(Debug)]
enum Open {
    Paragraph,
    List,
    Steps,
    Item,
    Quote,
    Code,
    Emphasis,
    Strong,
    Link(Option<Target>),
}

/// A piece that has begun and not ended, with what it holds so far.
#[derive(Debug)]
struct Frame {
    open: Open,
    blocks: Vec<Block>,
    items: Vec<Vec<Block>>,
    inlines: Vec<Inline>,
}

struct Reader<'s, 't> {
    source: &'s mut Source<'t>,
    base: usize,
    exists: &'s dyn Fn(&str) -> bool,
    stack: Vec<Frame>,
    /// How many frames were refused because they nest too deeply.
    too_deep: usize,
    body: Body,
    /// The heading that is being read: its bytes and its words.
    heading: Option<(Range<usize>, String)>,
    /// Links to beats, with the byte of each.
    links: Vec<(String, usize)>,
}

impl Reader<'_, '_> {
    fn wrong(&mut self, byte: usize, message: impl Into<String>) {
        self.source.wrong(self.base + byte, message);
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => match &mut self.heading {
                Some((_, title)) => title.push_str(&text),
                None => self.inline(Inline::Code(text.to_string())),
            },
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::Html(html) | Event::InlineHtml(html) => {
                let message = format!("found raw HTML `{}`, expected {KNOWN}", short(html.trim()));
                self.wrong(range.start, message);
            }
            Event::FootnoteReference(id) => self.evidence(&id, range.start),
            _ => self.wrong(range.start, format!("found a rule or a mark, expected {KNOWN}")),
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        let open = match tag {
            Tag::Paragraph => Open::Paragraph,
            Tag::List(None) => Open::List,
            Tag::List(Some(_)) => Open::Steps,
            Tag::Item => Open::Item,
            Tag::BlockQuote(_) => Open::Quote,
            Tag::CodeBlock(_) => Open::Code,
            Tag::Emphasis => Open::Emphasis,
            Tag::Strong => Open::Strong,
            Tag::Link { dest_url, .. } => Open::Link(self.target(&dest_url, range.start)),
            Tag::Heading { level, .. } => return self.heading_start(level, range),
            Tag::HtmlBlock => return,
            Tag::FootnoteDefinition(id) => {
                let message = format!("found a footnote `[^{}]:` among the words", short(&id));
                self.wrong(range.start, format!("{message}, expected it as `[[evidence]]` above"));
                Open::Quote
            }
            Tag::Image { .. } => {
                self.wrong(range.start, format!("found an image, expected {KNOWN}"));
                Open::Emphasis
            }
            _ => {
                self.wrong(range.start, format!("found something else, expected {KNOWN}"));
                return;
            }
        };
        if self.stack.len() >= DEEPEST {
            if self.too_deep == 0 {
                let message = format!("found words nested more than {DEEPEST} deep");
                self.wrong(range.start, format!("{message}, expected fewer levels"));
            }
            self.too_deep += 1;
            return;
        }
        if matches!(open, Open::List | Open::Steps | Open::Quote | Open::Code | Open::Paragraph) {
            self.flush();
        }
        self.stack.push(Frame { open, blocks: vec![], items: vec![], inlines: vec![] });
    }

    fn end(&mut self, tag: TagEnd) {
        if let TagEnd::Heading(_) = tag {
            return self.heading_end();
        }
        if matches!(tag, TagEnd::HtmlBlock) {
            return;
        }
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        self.flush();
        let Some(frame) = self.stack.pop() else {
            return;
        };
        let Frame { open, blocks, items, inlines } = frame;
        match open {
            Open::Paragraph => self.block(Block::Paragraph(inlines)),
            Open::List => self.block(Block::List(items)),
            Open::Steps => self.block(Block::Steps(items)),
            Open::Quote => self.block(Block::Quote(blocks)),
            Open::Code => {
                let text = inlines.iter().filter_map(|i| match i {
                    Inline::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                let text: String = text.collect();
                self.block(Block::Code(text.trim_end_matches('\n').to_string()));
            }
            Open::Item => {
                if let Some(list) = self.stack.last_mut() {
                    list.items.push(blocks);
                }
            }
            Open::Emphasis => self.inline(Inline::Emphasis(inlines)),
            Open::Strong => self.inline(Inline::Strong(inlines)),
            Open::Link(Some(target)) => self.inline(Inline::Link(target, inlines)),
            Open::Link(None) => {}
        }
    }

    /// The words of a tight list's item stand without a paragraph; they get one.
    fn flush(&mut self) {
        if let Some(frame) = self.stack.last_mut()
            && matches!(frame.open, Open::Item | Open::Quote)
            && !frame.inlines.is_empty()
        {
            frame.blocks.push(Block::Paragraph(std::mem::take(&mut frame.inlines)));
        }
    }

    fn block(&mut self, block: Block) {
        match (self.stack.last_mut(), self.body.beats.last_mut()) {
            (Some(frame), _) => frame.blocks.push(block),
            (None, Some(draft)) => draft.beat.blocks.push(block),
            (None, None) => self.body.intro.push(block),
        }
    }

    fn inline(&mut self, inline: Inline) {
        if let Some(frame) = self.stack.last_mut() {
            frame.inlines.push(inline);
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, title)) = &mut self.heading {
            title.push_str(text);
            return;
        }
        let Some(frame) = self.stack.last_mut() else {
            return;
        };
        match frame.inlines.last_mut() {
            Some(Inline::Text(last)) => last.push_str(text),
            _ => frame.inlines.push(Inline::Text(text.to_string())),
        }
    }

    fn evidence(&mut self, id: &str, byte: usize) {
        if self.heading.is_some() {
            let message = format!("found the mark `[^{}]` in a heading", short(id));
            self.wrong(byte, format!("{message}, expected it behind a claim in the words"));
            return;
        }
        self.body.evidence.push((id.to_string(), self.base + byte));
        self.inline(Inline::Evidence(id.to_string()));
    }

    fn target(&mut self, to: &str, byte: usize) -> Option<Target> {
        if let Some(word) = to.strip_prefix("level:") {
            let level = Level::ALL.into_iter().find(|l| l.word() == word);
            if level.is_none() {
                let known = one_of(&Level::ALL.map(Level::word));
                self.wrong(byte, format!("found the level `{}`, expected {known}", short(word)));
            }
            return level.map(Target::Level);
        }
        if let Some(name) = to.strip_prefix("run:") {
            self.body.runs.push((name.to_string(), self.base + byte));
            return Some(Target::Run(name.to_string()));
        }
        if let Some(id) = to.strip_prefix('#') {
            self.links.push((id.to_string(), byte));
            return Some(Target::Beat(id.to_string()));
        }
        // Cases lie one folder deeper.
        let beside = to.strip_prefix("../").or_else(|| to.strip_prefix("cases/")).unwrap_or(to);
        let stem = beside.strip_suffix(".md").filter(|s| is_file_stem(s));
        match stem.filter(|_| (self.exists)(to)) {
            Some(stem) => Some(Target::Lesson(id_of_stem(stem).to_string())),
            None => {
                let message = match stem {
                    Some(_) => format!("found a link to `{}`, which is not there", short(to)),
                    None => format!("found a link to `{}`", short(to)),
                };
                let wanted = "expected `#ID` of a beat, `run:NAME` of a variant, \
                              `level:help`, or the file of a \
                              lesson beside this one";
                self.wrong(byte, format!("{message}; {wanted}"));
                None
            }
        }
    }

    fn check_links(&mut self) {
        for (id, byte) in std::mem::take(&mut self.links) {
            if !self.body.beats.iter().any(|d| d.beat.id == id) {
                let known = self.body.beats.iter().map(|d| d.beat.id.as_str());
                let known = crate::sim::list(known);
                let message = format!("no beat `#{}`; the beats are {known}", short(&id));
                self.wrong(byte, message);
            }
        }
    }
}

/// Headings: every one begins a beat.
impl Reader<'_, '_> {
    fn heading_start(&mut self, level: HeadingLevel, range: Range<usize>) {
        if !self.stack.is_empty() {
            self.wrong(range.start, "found a heading in a list or quote, expected it on its own");
        } else if level != HeadingLevel::H2 {
            let message = format!("found a heading of level {}", level as usize);
            self.wrong(range.start, format!("{message}, expected `## ` for a beat"));
        }
        self.body.headings += 1;
        self.heading = Some((range, String::new()));
    }

    fn heading_end(&mut self) {
        let Some((range, title)) = self.heading.take() else {
            return;
        };
        let Some(mut draft) = self.attributes(&range) else {
            return;
        };
        draft.beat.title = title.trim().to_string();
        if draft.beat.title.is_empty() {
            self.wrong(range.start, "found a beat without a title, expected words");
        }
        if self.body.beats.iter().any(|d| d.beat.id == draft.beat.id) {
            let message = format!("found the beat `#{}` twice", draft.beat.id);
            self.wrong(range.start, format!("{message}, expected another id"));
        }
        if self.body.beats.len() == MOST_BEATS {
            self.wrong(range.start, format!("found more than {MOST_BEATS} beats"));
        }
        if self.body.beats.len() < MOST_BEATS {
            self.body.beats.push(draft);
        }
    }

    /// Reads `{#id at="EVENT" variant="NAME"}` at the end of a heading.
    fn attributes(&mut self, heading: &Range<usize>) -> Option<Draft> {
        let whole = self.source.text.get(self.base..)?.get(heading.clone())?;
        let wanted = "expected `{#id at=\"EVENT\"}` at the end of the heading";
        let braces = whole.rfind('{').zip(whole.rfind('}')).filter(|(a, b)| a < b);
        let Some((from, to)) = braces else {
            self.wrong(heading.start, format!("found no anchor, {wanted}"));
            return None;
        };
        let (mut id, mut at, mut variant) = (None, None, None);
        let mut rest = whole.get(from + 1..to)?;
        while !rest.trim_start().is_empty() {
            rest = rest.trim_start();
            let byte = heading.start + to - rest.len();
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            if let Some(name) = rest[..end].strip_prefix('#') {
                id = Some((name.to_string(), byte + 1));
                rest = &rest[end..];
                continue;
            }
            let quoted = rest.split_once("=\"").and_then(|(k, v)| Some((k, v.split_once('"')?)));
            let Some((key, (value, after))) = quoted else {
                let found = short(&rest[..end]);
                self.wrong(byte, format!("found `{found}`, {wanted}"));
                return None;
            };
            let value_byte = byte + key.len() + 2;
            match key {
                "at" => at = Some((value.to_string(), value_byte)),
                "variant" => variant = Some((value.to_string(), value_byte)),
                _ => {
                    let found = short(key);
                    let known = "expected `at` or `variant`";
                    self.wrong(byte, format!("found the attribute `{found}`, {known}"));
                }
            }
            rest = after;
        }
        self.draft(heading.start, id, at, variant, wanted)
    }

    fn draft(
        &mut self,
        heading: usize,
        id: Option<(String, usize)>,
        at: Option<(String, usize)>,
        variant: Option<(String, usize)>,
        wanted: &str,
    ) -> Option<Draft> {
        let (Some((id, id_byte)), Some((at, at_byte))) = (id, at) else {
            self.wrong(heading, format!("found no anchor, {wanted}"));
            return None;
        };
        if !is_id(&id) {
            let message = format!("found the id `{}`", short(&id));
            self.wrong(id_byte, format!("{message}, expected lower-case letters, digits and `-`"));
        }
        let (variant, variant_byte) = variant.unwrap_or((BASE.to_string(), heading));
        let place: Place = self.source.place(self.base + at_byte);
        let at = Line { text: at, place };
        let beat = Beat { id, title: String::new(), at, variant, blocks: Vec::new() };
        let (at_byte, variant_byte) = (self.base + at_byte, self.base + variant_byte);
        Some(Draft { beat, at_byte, variant_byte })
    }
}

/// A file's name without its end: no folders, nothing but small letters, digits and `-`.
fn is_file_stem(stem: &str) -> bool {
    !stem.is_empty()
        && stem.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// `lease-expiration` of `05-lease-expiration`.
pub fn id_of_stem(stem: &str) -> &str {
    match stem.split_once('-') {
        Some((number, id)) if number.bytes().all(|b| b.is_ascii_digit()) => id,
        _ => stem,
    }
}
