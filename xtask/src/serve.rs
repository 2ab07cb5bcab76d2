//! `cargo xtask serve`: builds the page and serves it on this machine.

use std::net::TcpListener;
use std::time::Instant;

use crate::wasm::Profile;
use crate::workspace::{dist, root, seconds};
use crate::{Failure, build, http};

const DEFAULT_PORT: u16 = 8080;

/// Runs the subcommand; returns only on an error.
pub fn command(arguments: &[String]) -> Result<(), Failure> {
    let start = Instant::now();
    let options = Options::parse(arguments)?;
    // Taken before the build: nobody should wait a minute to learn that the port is in use.
    let listener = listen(options.port)?;
    let folder = match options.profile {
        Profile::Release => dist(),
        // dist/ is what gets published, so a dev build never lands there.
        Profile::Dev => root().join("target").join("dev-page"),
    };
    build::build(options.profile, &folder)?;
    let address = listener.local_addr().map_err(|error| format!("the server: {error}."))?;
    println!("Ready after {}. Open http://{address}/", seconds(start.elapsed()));
    println!("Ctrl-C stops it. To see changed code, stop it and run it again.");
    http::serve(&listener, &folder).map_err(|error| format!("the server stopped: {error}."))?;
    Ok(())
}

fn listen(port: u16) -> Result<TcpListener, String> {
    TcpListener::bind(("127.0.0.1", port)).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => format!(
            "port {port} is in use by another program. Stop that one, or choose another port: \
             `cargo xtask serve --port {}`.",
            port.checked_add(1).unwrap_or(DEFAULT_PORT)
        ),
        _ => format!("port {port} cannot be used: {error}."),
    })
}

#[derive(Debug, PartialEq)]
struct Options {
    port: u16,
    profile: Profile,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Options, Failure> {
        // Release by default: on two cores the first start then takes two minutes instead of one and
        // a half, once, and what a newcomer sees is as fast as the published page.
        let mut options = Options { port: DEFAULT_PORT, profile: Profile::Release };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--release" => options.profile = Profile::Release,
                "--dev" => options.profile = Profile::Dev,
                "--port" => options.port = port(arguments.next().map(String::as_str))?,
                other => match other.strip_prefix("--port=") {
                    Some(number) => options.port = port(Some(number))?,
                    None => {
                        let message = format!("serve does not know the argument \"{other}\".");
                        return Err(Failure::Usage(message));
                    }
                },
            }
        }
        Ok(options)
    }
}

fn port(text: Option<&str>) -> Result<u16, Failure> {
    let text = text.unwrap_or("");
    text.parse().map_err(|_| {
        Failure::Usage(format!("--port takes a number from 0 to 65535, but got \"{text}\"."))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Options, Failure> {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        Options::parse(&arguments)
    }

    #[test]
    fn both_spellings_of_the_port_are_understood() {
        let expected = Options { port: 9000, profile: Profile::Dev };
        assert_eq!(parsed(&["--dev", "--port", "9000"]).unwrap(), expected);
        assert_eq!(parsed(&["--port=9000", "--dev"]).unwrap(), expected);
        assert_eq!(parsed(&[]).unwrap(), Options { port: 8080, profile: Profile::Release });
    }

    #[test]
    fn nonsense_is_a_usage_error() {
        for arguments in [&["--port"][..], &["--port", "web"], &["--port=70000"], &["now"]] {
            assert!(matches!(parsed(arguments), Err(Failure::Usage(_))), "{arguments:?}");
        }
    }

    #[test]
    fn a_port_in_use_is_explained() {
        let first = listen(0).unwrap();
        let port = first.local_addr().unwrap().port();
        let message = listen(port).unwrap_err();
        assert!(message.contains(&format!("port {port} is in use")), "{message}");
    }
}
