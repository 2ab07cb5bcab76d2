//! Every contact with the browser but the animation: storage, clipboard, files, address, media queries.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::task::{Context, Waker};

use gloo_timers::callback::Timeout;
use js_sys::{Array, Date};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    Blob, BlobPropertyBag, Document, Element, HtmlAnchorElement, HtmlElement, HtmlInputElement,
    KeyboardEvent, MediaQueryList, ResizeObserver, Response, Window,
};
use yew::{Callback, NodeRef, hook, use_effect_with, use_mut_ref, use_state_eq};

use super::settings::{Motion, Settings, Words};

/// The window; there is none only where no page is.
pub fn window() -> Option<Window> {
    web_sys::window()
}

/// The page's document.
pub fn document() -> Option<Document> {
    window()?.document()
}

/// The address's fragment, with its `#`.
pub fn hash() -> String {
    window().and_then(|w| w.location().hash().ok()).unwrap_or_default()
}

/// How long an address or a title waits until it is written, in milliseconds.
const WAITS: u32 = 80;

/// A text that the browser is told: at once, or in a moment if that has just happened. Writing it is dear,
/// and browsers refuse an address that changes too often, so that of many steps in a row only the last counts.
struct Soon {
    /// What is about to be written.
    next: RefCell<Option<(Timeout, String)>>,
    /// When the last one was written, in milliseconds.
    written: Cell<f64>,
}

impl Soon {
    const fn new() -> Soon {
        Soon { next: RefCell::new(None), written: Cell::new(0.0) }
    }

    /// Calls `write` now or in a moment, which is expected to [`take`](Soon::take) the text.
    fn put(&self, new: String, write: fn()) {
        self.next.replace(Some((Timeout::new(WAITS, write), new)));
        if Date::now() - self.written.get() > f64::from(3 * WAITS) {
            write();
        }
    }

    fn forget(&self) {
        self.next.replace(None);
    }

    fn take(&self) -> Option<String> {
        let (_, text) = self.next.take()?;
        self.written.set(Date::now());
        Some(text)
    }
}

thread_local! {
    /// The fragment of the address.
    static HASH: Soon = const { Soon::new() };
    /// The title of the tab.
    static TITLE: Soon = const { Soon::new() };
}

/// Changes the fragment, soon.
pub fn replace_hash_soon(new: String) {
    if new == hash() {
        HASH.with(Soon::forget);
    } else {
        HASH.with(|soon| soon.put(new, write_hash));
    }
}

fn write_hash() {
    if let Some(new) = HASH.with(Soon::take) {
        replace_hash(&new);
    }
}

/// Changes the title of the tab, soon.
pub fn set_title_soon(title: String) {
    TITLE.with(|soon| soon.put(title, write_title));
}

fn write_title() {
    if let (Some(title), Some(document)) = (TITLE.with(Soon::take), document()) {
        document.set_title(&title);
    }
}

/// The lesson is left: its address and its title are not written any more.
pub fn forget_address() {
    HASH.with(Soon::forget);
    TITLE.with(Soon::forget);
}

/// The whole address, with all that has been done.
pub fn address() -> String {
    write_hash();
    window().and_then(|w| w.location().href().ok()).unwrap_or_default()
}

/// Changes the fragment without a new entry in the history.
pub fn replace_hash(hash: &str) {
    // A browser may refuse when it happens too often; the next change carries the same.
    let history = window().and_then(|w| w.history().ok());
    if let Some(history) = history {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(hash));
    }
}

/// The address's query, with its `?`.
fn search() -> String {
    window().and_then(|w| w.location().search().ok()).unwrap_or_default()
}

/// What the address asks for under a name, in its query or in its fragment.
fn asked(name: &str) -> Option<String> {
    let whole = search() + "&" + &hash();
    let pairs = whole.split(['?', '&']).filter_map(|pair| pair.split_once('='));
    pairs.rev().find(|p| p.0 == name).map(|p| p.1.to_string())
}

/// A lesson's address says in one place that it is on a projector: in its fragment.
pub fn gather_address() {
    let (search, hash) = (search(), hash());
    let has = |text: &str| text.split(['?', '&']).any(|pair| pair == "present=1");
    if !has(&search) || !hash.starts_with("#/lesson/") {
        return;
    }
    let rest: Vec<&str> =
        search.split(['?', '&']).filter(|p| !p.is_empty() && *p != "present=1").collect();
    let path = window().and_then(|w| w.location().pathname().ok()).unwrap_or_default();
    let mark = if rest.is_empty() { "" } else { "?" };
    let join = if hash.contains('?') { "&" } else { "?" };
    let more = if has(&hash) { String::new() } else { format!("{join}present=1") };
    replace_hash(&format!("{path}{mark}{}{hash}{more}", rest.join("&")));
}

/// Under which name the browser keeps the settings.
const SETTINGS_KEY: &str = "lockscope.settings";

thread_local! {
    /// The settings of this page; the browser's copy only outlives it.
    static SETTINGS: Cell<Settings> = Cell::new(Settings::default());
    /// The browser keeps nothing.
    static FORGETFUL: Cell<bool> = const { Cell::new(false) };
}

/// What the reader wants.
pub fn settings() -> Settings {
    SETTINGS.get()
}

/// Reads what the browser kept. Colours that the address asks for win, and are not kept.
pub fn load_settings() {
    let kept = stored(SETTINGS_KEY).map_or_else(Settings::default, |line| Settings::parse(&line));
    SETTINGS.set(kept);
    let asked = asked("theme").and_then(|word| Words::of(&word));
    mark("data-theme", asked.unwrap_or(kept.theme).word());
    mark("data-motion", kept.motion.word());
}

/// Takes over what the reader wants, and keeps it if the browser lets us.
pub fn change_settings(settings: Settings) {
    let before = SETTINGS.replace(settings);
    if before.theme != settings.theme {
        mark("data-theme", settings.theme.word());
    }
    mark("data-motion", settings.motion.word());
    store(SETTINGS_KEY, &settings.line());
}

/// Whether the browser refused to keep something: its storage is forbidden or full.
pub fn forgets() -> bool {
    FORGETFUL.get()
}

/// Tells the style sheet.
fn mark(name: &str, word: &str) {
    if let Some(root) = document().and_then(|d| d.document_element()) {
        let _ = root.set_attribute(name, word);
    }
}

/// Reads a value that this page keeps in the browser; nothing where that is forbidden.
pub fn stored(key: &str) -> Option<String> {
    let storage = window().and_then(|w| w.local_storage().ok().flatten());
    FORGETFUL.set(storage.is_none());
    storage?.get_item(key).ok()?
}

/// Keeps a value; a browser that forbids it, or is full, loses it with the page.
pub fn store(key: &str, value: &str) {
    let storage = window().and_then(|w| w.local_storage().ok().flatten());
    let kept = storage.is_some_and(|storage| storage.set_item(key, value).is_ok());
    FORGETFUL.set(!kept);
}

/// How much larger than on a page the picture is on a wall, in per cent: its smallest letters have
/// 28 px where the page is 1280 by 720.
pub fn wall() -> i32 {
    let side = |side: Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue>| {
        side.ok().and_then(|s| s.as_f64()).unwrap_or(0.0) as i32
    };
    let (width, height) =
        window().map_or((0, 0), |w| (side(w.inner_width()), side(w.inner_height())));
    (width * 234 / 1280).min(height * 234 / 720).max(168)
}

/// Marks the words on a wall as too long where they do not fit.
pub fn fit(id: &str) {
    let Some(element) = document().and_then(|d| d.get_element_by_id(id)) else { return };
    let _ = element.set_attribute("data-fits", "yes");
    if element.scroll_height() > element.client_height() + 1 {
        let _ = element.set_attribute("data-fits", "no");
    }
}

/// The wall clock, in milliseconds: for the pace of announcements only.
pub fn now() -> u64 {
    js_sys::Date::now() as u64
}

/// Whether the keyboard is one of Apple's.
pub fn apple() -> bool {
    let platform = window().and_then(|w| w.navigator().platform().ok());
    platform.is_some_and(|p| p.starts_with("Mac") || p.starts_with("iP"))
}

/// Fetches a text file that lies beside the page.
///
/// # Errors
/// Why not, in a few words.
pub async fn fetch_text(path: &str) -> Result<String, String> {
    let window = window().ok_or("there is no window")?;
    let given = JsFuture::from(window.fetch_with_str(path)).await;
    let response: Response =
        given.and_then(JsCast::dyn_into).map_err(|_| "no answer from the server".to_string())?;
    if !response.ok() {
        return Err(format!("the server answers {}", response.status()));
    }
    let broken = || "the answer broke off".to_string();
    let text = JsFuture::from(response.text().map_err(|_| broken())?).await;
    text.ok().and_then(|t| t.as_string()).ok_or_else(broken)
}

/// Puts text on the clipboard; whether it worked.
pub async fn copy(text: String) -> bool {
    let Some(window) = window() else { return false };
    // Without a secure context there is no clipboard, whatever the types say.
    let clipboard = js_sys::Reflect::get(&window.navigator(), &"clipboard".into());
    if clipboard.is_ok_and(|c| c.is_undefined()) {
        return false;
    }
    JsFuture::from(window.navigator().clipboard().write_text(&text)).await.is_ok()
}

/// Offers text as a file to save; whether that was possible.
pub fn save(name: &str, kind: &str, text: &str) -> bool {
    let Some(document) = document() else { return false };
    let parts = Array::of1(&JsValue::from_str(text));
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    let Ok(blob) = Blob::new_with_str_sequence_and_options(&parts, &options) else { return false };
    let Ok(url) = web_sys::Url::create_object_url_with_blob(&blob) else { return false };
    let anchor: Option<HtmlAnchorElement> =
        document.create_element("a").ok().and_then(|a| a.dyn_into().ok());
    if let Some(anchor) = &anchor {
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
    }
    let _ = web_sys::Url::revoke_object_url(&url);
    anchor.is_some()
}

fn media(query: &str) -> Option<MediaQueryList> {
    window()?.match_media(query).ok()?
}

/// Whether the reader asked for less motion, here or in the system.
pub fn reduced_motion() -> bool {
    settings().motion == Motion::Reduced
        || media("(prefers-reduced-motion: reduce)").is_some_and(|m| m.matches())
}

/// Calls a function at every event of that name until dropped.
pub struct Listener {
    target: web_sys::EventTarget,
    name: &'static str,
    closure: Closure<dyn FnMut(web_sys::Event)>,
}

impl Listener {
    /// Listens.
    pub fn new(
        target: &web_sys::EventTarget,
        name: &'static str,
        call: impl FnMut(web_sys::Event) + 'static,
    ) -> Listener {
        let closure = Closure::<dyn FnMut(web_sys::Event)>::new(call);
        let _ = target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref());
        Listener { target: target.clone(), name, closure }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let call = self.closure.as_ref().unchecked_ref();
        let _ = self.target.remove_event_listener_with_callback(self.name, call);
    }
}

/// Before a key or a press means anything, what the one before began is finished.
///
/// Where drawing takes long, yew lets the browser go on before effects have run: the address is still that of the last step
/// then, a dialog that is drawn is not open yet, and whoever listens to keys knows the state before. A hand that is faster
/// than the machine must not notice.
pub fn finish_before_hands() {
    let Some(window) = window() else { return };
    for name in ["keydown", "pointerdown"] {
        let hand = Closure::<dyn FnMut(web_sys::Event)>::new(|event: web_sys::Event| {
            // A key that is held down says the same again and again: many of them may be drawn at once.
            if !event.dyn_ref::<KeyboardEvent>().is_some_and(KeyboardEvent::repeat) {
                finish_drawing();
            }
        });
        let call = hand.as_ref().unchecked_ref();
        let _ = window.add_event_listener_with_callback_and_bool(name, call, true);
        hand.forget();
    }
}

/// Does now what yew has put off. It is for what comes from outside, and never for what happens while something is drawn.
pub fn finish_drawing() {
    // All of it is done at the first call; what is left to wait for is a timer that finds nothing to do.
    let _ = pin!(yew::scheduler::flush()).poll(&mut Context::from_waker(Waker::noop()));
}

/// Opens the browser's own dialog for printing.
pub fn print() {
    if let Some(window) = window() {
        let _ = window.print();
    }
}

/// Whether a media query matches, now and after every change.
#[hook]
pub fn use_media(query: &'static str) -> bool {
    let matches = use_state_eq(|| media(query).is_some_and(|m| m.matches()));
    let setter = matches.setter();
    use_effect_with((), move |()| {
        let list = media(query);
        let listener = list.map(|list| {
            let now = list.clone();
            Listener::new(&list, "change", move |_| setter.set(now.matches()))
        });
        move || drop(listener)
    });
    *matches
}

/// The width of an element in whole pixels, now and after every change; 0 before it is drawn.
#[hook]
pub fn use_width(node: &NodeRef) -> i32 {
    let width = use_state_eq(|| 0);
    let setter = width.setter();
    use_box(node, Callback::from(move |element: HtmlElement| setter.set(element.client_width())));
    *width
}

/// Hands an element to the latest callback given whenever its box has another size, the first time when it is drawn.
#[hook]
pub fn use_box(node: &NodeRef, call: Callback<HtmlElement>) {
    let latest = use_mut_ref(|| call.clone());
    latest.replace(call);
    let node = node.clone();
    use_effect_with((), move |()| {
        let element = node.cast::<HtmlElement>();
        let measured = element.clone();
        let closure = Closure::<dyn FnMut()>::new(move || {
            if let Some(element) = &measured {
                let call = latest.borrow().clone();
                call.emit(element.clone());
            }
        });
        let observer = ResizeObserver::new(closure.as_ref().unchecked_ref()).ok();
        if let (Some(observer), Some(element)) = (&observer, &element) {
            observer.observe(element);
        }
        move || {
            if let Some(observer) = observer {
                observer.disconnect();
            }
            drop(closure);
        }
    });
}

/// Whether a key typed at this element belongs to it, and not to the player: fields take all of them,
/// buttons and links what presses them, the scrubber what moves it.
pub fn takes_key(target: Option<web_sys::EventTarget>, key: &str) -> bool {
    let fields = "input, select, textarea, dialog, pre, [role=tab], [contenteditable], .grip";
    let presses = matches!(key, " " | "Enter") && inside(target.clone(), "button, a, summary");
    let moves = ["Arrow", "Page", "Home", "End"].iter().any(|word| key.starts_with(word));
    if inside(target.clone(), "input[type=range]") {
        return moves;
    }
    presses || inside(target, fields)
}

/// Puts the focus on the element with this id; whether there is one.
pub fn focus(id: &str) -> bool {
    let element = document().and_then(|d| d.get_element_by_id(id));
    let element = element.and_then(|e| e.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|e| e.focus().is_ok())
}

/// Puts the focus on an element that is only drawn after what is going on now.
pub fn focus_soon(id: &'static str) {
    let later = move || {
        focus(id);
    };
    Timeout::new(0, later).forget();
}

/// Puts the focus there once what was just changed is drawn, if what had it is gone by then.
pub fn keep_focus(id: &'static str) {
    let later = move || {
        let active = document().and_then(|d| d.active_element());
        if active.is_none_or(|e| e.tag_name() == "BODY") {
            focus(id);
        }
    };
    Timeout::new(0, later).forget();
}

/// What is typed into the field with this id.
pub fn typed(id: &str) -> Option<String> {
    let field = document()?.get_element_by_id(id)?.dyn_into::<HtmlInputElement>().ok()?;
    Some(field.value())
}

/// Puts the focus on the field with this id and selects what is in it; whether there is one.
pub fn select(id: &str) -> bool {
    let element = document().and_then(|d| d.get_element_by_id(id));
    let Some(field) = element.and_then(|e| e.dyn_into::<web_sys::HtmlInputElement>().ok()) else {
        return false;
    };
    let _ = field.focus();
    field.select();
    true
}

/// The same, once what was just changed is drawn.
pub fn select_soon(id: String) {
    Timeout::new(0, move || {
        select(&id);
    })
    .forget();
}

/// Brings the element with this id into view, once what was just changed is drawn.
pub fn reveal(id: &'static str) {
    let later = move || {
        if let Some(element) = document().and_then(|d| d.get_element_by_id(id)) {
            unfold(&element);
            element.scroll_into_view();
        }
    };
    Timeout::new(0, later).forget();
}

/// Scrolls the column of the story to its top; where it is a tab, the page to the tabs if they are above
/// what is in sight. Whoever is at work further down is left there.
pub fn to_top_of_story() {
    let Some(document) = document() else { return };
    let found = |selector: &str| document.query_selector(selector).ok().flatten();
    let active = || document.active_element().map(|e| e.unchecked_into());
    // Nobody has the focus while it goes from a field to what is about to be pressed: nothing may move then.
    let column = "#words *, #tab-panel *";
    let at_work = !inside(active(), "body *") || inside(active(), column);
    if at_work && !inside(active(), ".turns, .levels, #predict") {
        return;
    }
    if let Some(column) = found("#words") {
        column.set_scroll_top(0);
    } else if let Some(tabs) = found(".tabs").filter(|t| t.get_bounding_client_rect().top() < 0.0) {
        tabs.scroll_into_view();
    }
}

/// Scrolls the page back to the picture, if that is not wholly in sight.
pub fn picture_in_sight() {
    let found = |id: &str| document()?.get_element_by_id(id);
    let (Some(page), Some(stage), Some(window)) = (found("lesson"), found("stage"), window())
    else {
        return;
    };
    let place = stage.get_bounding_client_rect();
    let height = window.inner_height().ok().and_then(|h| h.as_f64()).unwrap_or(0.0);
    if place.top() < 0.0 || place.bottom() > height {
        page.scroll_into_view();
    }
}

/// Opens whatever an element is folded away in.
fn unfold(element: &Element) {
    let mut around = element.closest("details").ok().flatten();
    while let Some(details) = around {
        let _ = details.set_attribute("open", "");
        around = details.parent_element().and_then(|p| p.closest("details").ok().flatten());
    }
}

/// Brings the line that a program is at into the middle of its own box, where that scrolls: once the step that led
/// there is drawn, because asking where a line is before lays the whole page out within the frame.
pub fn center_line_soon() {
    Timeout::new(0, center_line).forget();
}

fn center_line() {
    let found = |selector: &str| {
        let element = document()?.query_selector(selector).ok()??;
        element.dyn_into::<HtmlElement>().ok()
    };
    if let (Some(lines), Some(line)) = (found(".programs"), found(".programs .current")) {
        let middle = line.offset_top() + line.offset_height() / 2;
        lines.set_scroll_top(middle - lines.client_height() / 2);
    }
}

/// Brings the sentence of what is selected into view beside the picture.
pub fn reveal_lit() {
    let later = || {
        let found = document().and_then(|d| d.query_selector(".side .entries .lit").ok().flatten());
        if let Some(element) = found {
            element.scroll_into_view_with_bool(false);
        }
    };
    Timeout::new(0, later).forget();
}

fn inside(target: Option<web_sys::EventTarget>, selector: &str) -> bool {
    let element = target.and_then(|t| t.dyn_into::<Element>().ok());
    element.is_some_and(|e| e.closest(selector).ok().flatten().is_some())
}

/// What the nearest element around an event that is marked with this attribute says.
pub fn marked(event: &web_sys::MouseEvent, attribute: &str) -> Option<String> {
    let element = event.target().and_then(|t| t.dyn_into::<Element>().ok())?;
    element.closest("[data-run]").ok().flatten()?.get_attribute(attribute)
}

/// What a key belongs to: what had the focus when it was pressed, unless a dialog has opened since, or what had it is gone.
pub fn belongs_to(event: &KeyboardEvent) -> Option<web_sys::EventTarget> {
    let target: Option<Element> = event.target().and_then(|t| t.dyn_into().ok());
    let active = || document().and_then(|d| d.active_element());
    let opened = active().filter(|a| a.closest("dialog").ok().flatten().is_some());
    opened.or(target.filter(|t| t.is_connected())).or_else(active).map(Into::into)
}

/// Whether an event comes from a dialog.
pub fn in_dialog(target: Option<web_sys::EventTarget>) -> bool {
    inside(target, "dialog")
}

/// Whether an event comes from a field that has an undo of its own.
pub fn is_text_field(target: Option<web_sys::EventTarget>) -> bool {
    inside(target, "input[type=text], input[type=number], textarea")
}
