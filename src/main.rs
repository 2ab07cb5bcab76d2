//! One binary, two faces: the page in a browser, the command line everywhere else.

#[cfg(target_arch = "wasm32")]
fn main() {
    lockscope::ui::start();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    lockscope::cli::main()
}
