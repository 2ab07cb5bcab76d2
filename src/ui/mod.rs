//! The page: Yew components that draw marks, facts and sentences, and know no protocol.

use wasm_bindgen::prelude::wasm_bindgen;
use yew::{Html, component, html};

#[wasm_bindgen]
extern "C" {
    /// The overlay that `static/boot.mjs` shows when nothing on the page can be trusted any more.
    #[wasm_bindgen(js_namespace = window, js_name = lockscopePanic)]
    fn show_panic(message: &str);
}

/// Mounts the page in place of the shell that `index.html` shows while the program loads.
pub fn start() {
    yew::set_custom_panic_hook(Box::new(|info| show_panic(&info.to_string())));
    let Some(root) = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id("app"))
    else {
        show_panic("The page has no element with the id \"app\" to draw into.");
        return;
    };
    yew::Renderer::<Page>::with_root(root).render();
}

/// The whole page.
#[component]
fn Page() -> Html {
    html! {
        <main>
            <h1>{ "Lockscope" }</h1>
        </main>
    }
}
