//! Elements of a document, and the words of a lesson as elements.

use crate::diagram::Element;
use crate::lesson::{BASE, Beat, Block, Inline, Lesson, Target, Variant};
use crate::sim::EventId;

/// An element of a class with these in it.
pub fn tag(tag: &'static str, class: &str, children: impl IntoIterator<Item = Element>) -> Element {
    let element = Element::new(tag);
    let element = if class.is_empty() { element } else { element.with("class", class) };
    element.holding(children)
}

/// An element of a class that says this.
pub fn said(name: &'static str, class: &str, text: impl Into<String>) -> Element {
    Element { text: text.into(), ..tag(name, class, []) }
}

/// Words that stand beside elements.
pub fn plain(text: impl Into<String>) -> Element {
    Element { text: text.into(), ..Element::new("") }
}

/// The address of a moment of a lesson, from the start page on; `present` is for a room.
pub fn address(lesson: &Lesson, variant: &str, event: Option<EventId>, present: bool) -> String {
    let mut address = format!("#/lesson/{}", lesson.id);
    let run = (variant != BASE).then(|| format!("run={variant}"));
    let event = event.map(|e| format!("event={}", e.0));
    let present = present.then(|| "present=1".to_string());
    for (index, pair) in [run, event, present].into_iter().flatten().enumerate() {
        address.push(if index == 0 { '?' } else { '&' });
        address.push_str(&pair);
    }
    address
}

/// The words of a lesson, and whether they lead anywhere: paper has no links.
#[derive(Clone, Copy)]
pub struct Prose<'l> {
    pub lesson: &'l Lesson,
    pub links: bool,
}

impl Prose<'_> {
    pub fn blocks(&self, blocks: &[Block]) -> Vec<Element> {
        blocks.iter().map(|block| self.block(block)).collect()
    }

    /// What the runs show that the words of a beat link to, where they say it themselves.
    pub fn linked(&self, beat: &Beat) -> Option<Element> {
        let item = |variant: &Variant| {
            let shows = variant.shows.as_ref().filter(|_| variant.name != beat.variant)?;
            let told = beat.blocks.iter().any(|b| b.links_to(&variant.name));
            let title = said("strong", "", format!("{}. ", variant.title));
            told.then(|| tag("li", "", [title, plain(shows)]))
        };
        let items: Vec<Element> = self.lesson.variants.iter().filter_map(item).collect();
        (!items.is_empty()).then(|| tag("ul", "", items))
    }

    fn block(&self, block: &Block) -> Element {
        match block {
            Block::Paragraph(line) if block.is_row() => tag("p", "run-row", self.inlines(line)),
            Block::Paragraph(line) => tag("p", "", self.inlines(line)),
            Block::List(items) => tag("ul", "", self.items(items)),
            Block::Steps(items) => tag("ol", "", self.items(items)),
            Block::Code(text) => tag("pre", "", [said("code", "", text)]).with("tabindex", 0),
            Block::Quote(inner) => tag("blockquote", "", self.blocks(inner)),
        }
    }

    fn items(&self, items: &[Vec<Block>]) -> Vec<Element> {
        items.iter().map(|item| tag("li", "", self.blocks(item))).collect()
    }

    fn inlines(&self, line: &[Inline]) -> Vec<Element> {
        line.iter().map(|inline| self.inline(inline)).collect()
    }

    fn inline(&self, inline: &Inline) -> Element {
        match inline {
            Inline::Text(text) => plain(text),
            Inline::Emphasis(inner) => tag("em", "", self.inlines(inner)),
            Inline::Strong(inner) => tag("strong", "", self.inlines(inner)),
            Inline::Code(text) => said("code", "", text),
            Inline::Link(target, inner) => self.link(self.address(target), self.inlines(inner)),
            Inline::Evidence(id) => self.mark(id),
        }
    }

    /// The mark behind a claim: the number of its evidence.
    pub fn mark(&self, id: &str) -> Element {
        let all = &self.lesson.evidence;
        let number = all.iter().position(|e| e.id == id).map_or(0, |i| i + 1);
        tag("sup", "", [self.link(evidence(id), [plain(format!("[{number}]"))])])
    }

    fn link(&self, to: String, inner: impl IntoIterator<Item = Element>) -> Element {
        match self.links {
            true => Element::new("a").with("href", to).holding(inner),
            false => tag("span", "", inner),
        }
    }

    /// Where a link leads from the pages of `site`.
    fn address(&self, target: &Target) -> String {
        let own = &self.lesson.id;
        match target {
            Target::Beat(id) => format!("#{id}"),
            Target::Lesson(id) => format!("{id}.html"),
            Target::Run(name) => format!("../#/lesson/{own}?run={name}"),
            Target::Level(level) => {
                let task = self.lesson.task(*level).map_or("", |(_, t)| t.variant.as_str());
                format!("../#/lesson/{own}?run={task}&level={}", level.word())
            }
        }
    }

    /// Where the claims come from that no run can show, numbered as the marks are.
    pub fn evidence(&self) -> Option<Element> {
        let items = self.lesson.evidence.iter().map(|e| {
            let kind = format!("{}. ", e.kind.word());
            let words = [said("strong", "", kind), plain(format!("{} ", e.says))];
            let item = tag("li", "", words).holding([said("cite", "", &e.place)]);
            let id = evidence(&e.id);
            if self.links { item.with("id", id.trim_start_matches('#')) } else { item }
        });
        (!self.lesson.evidence.is_empty()).then(|| tag("ol", "sources", items))
    }
}

fn evidence(id: &str) -> String {
    format!("#evidence-{id}")
}
