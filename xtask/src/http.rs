//! A static file server for one person on one machine: GET and HEAD, one request per connection.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A browser opens about six connections; more than this many at once is a mistake somewhere.
const CONNECTIONS_MAX: usize = 64;
/// Longer requests are not ours: the page keeps its state in the fragment, which is never sent.
const REQUEST_MAX_BYTES: u64 = 16 * 1024;
/// Browsers open connections on suspicion; one that stays silent must not hold a thread for ever.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Serves the files below `folder` until accepting connections fails.
pub fn serve(listener: &TcpListener, folder: &Path) -> io::Result<()> {
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            // The visitor hung up first, which is not a reason to stop.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if open.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS_MAX {
            open.fetch_sub(1, Ordering::SeqCst);
            let _ = Reply::plain("503 Service Unavailable", "Too many connections.")
                .send(&stream, true);
            continue;
        }
        let folder = folder.to_owned();
        let open = Arc::clone(&open);
        thread::spawn(move || {
            // A failed write means that the visitor left: there is nobody to tell.
            let _ = converse(&stream, &folder);
            open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

fn converse(stream: &TcpStream, folder: &Path) -> io::Result<()> {
    stream.set_read_timeout(Some(SILENCE_MAX))?;
    stream.set_write_timeout(Some(SILENCE_MAX))?;
    let Some(line) = request_line(stream)? else {
        return Ok(());
    };
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let reply = match method {
        "GET" | "HEAD" => answer(target, folder),
        _ => Reply::plain("405 Method Not Allowed", "Only GET and HEAD are answered here."),
    };
    reply.send(stream, method != "HEAD")
}

/// The first line of the request, once its headers have been read; `None` if nothing was asked.
fn request_line(stream: &TcpStream) -> io::Result<Option<String>> {
    let mut lines = BufReader::new(stream.take(REQUEST_MAX_BYTES));
    let mut first = String::new();
    lines.read_line(&mut first)?;
    let mut header = Vec::new();
    // Unread bytes would make the system reset the connection and lose the reply.
    while lines.read_until(b'\n', &mut header)? > 0 && header != b"\r\n" && header != b"\n" {
        header.clear();
    }
    let first = first.trim_end();
    Ok((!first.is_empty()).then(|| first.to_owned()))
}

struct Reply {
    status: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
}

impl Reply {
    fn plain(status: &'static str, body: &str) -> Reply {
        Reply {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{body}\n").into(),
        }
    }

    fn send(&self, mut stream: &TcpStream, with_body: bool) -> io::Result<()> {
        let Reply { status, content_type, body } = self;
        let length = body.len();
        let mut message = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
             Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nAllow: GET, HEAD\r\n\
             Connection: close\r\n\r\n"
        )
        .into_bytes();
        if with_body {
            message.extend_from_slice(body);
        }
        stream.write_all(&message)
    }
}

fn answer(target: &str, folder: &Path) -> Reply {
    let Some(relative) = path_of(target) else {
        return Reply::plain("400 Bad Request", "This address makes no sense to this server.");
    };
    let missing = || Reply::plain("404 Not Found", "There is no such file in the built page.");
    let mut path = folder.join(relative);
    if path.is_dir() {
        if !target.split(['?', '#']).next().unwrap_or("").ends_with('/') {
            // Relative references would point one level too high.
            return missing();
        }
        path.push("index.html");
    }
    // A link inside the folder may point out of it; what counts is where the file really is.
    let inside = fs::canonicalize(folder)
        .and_then(|folder| Ok(fs::canonicalize(&path)?.starts_with(folder)))
        .unwrap_or(false);
    match fs::read(&path) {
        Ok(body) if inside => Reply { status: "200 OK", content_type: content_type(&path), body },
        _ => missing(),
    }
}

/// The relative path that a request's target asks for; `None` if it is malformed or tries to climb out.
fn path_of(target: &str) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next().unwrap_or("");
    let decoded = percent_decoded(path.strip_prefix('/')?)?;
    let mut relative = PathBuf::new();
    for segment in decoded.split('/') {
        let foreign = segment.contains(['\\', ':', '\0']);
        match segment {
            "" | "." => {}
            ".." => return None,
            _ if foreign => return None,
            _ => relative.push(segment),
        }
    }
    Some(relative)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|end| end.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    #[test]
    fn paths_are_decoded_and_never_climb() {
        let path = |target| path_of(target).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(path("/"), Some(String::new()));
        assert_eq!(path("/lessons/a.json?v=1#x"), Some("lessons/a.json".into()));
        assert_eq!(path("/a%20b/%C3%A9.txt"), Some("a b/é.txt".into()));
        for bad in [
            "",
            "x",
            "/../x",
            "/a/%2e%2E/x",
            "/a%2F..%2Fx",
            "/c:%5Cx",
            "/%",
            "/%4",
            "/%zz",
            "/%ff",
            "/%00",
        ] {
            assert_eq!(path(bad), None, "{bad}");
        }
    }

    /// Starts a server on a folder made for the test; the thread ends with the test's process.
    fn server(name: &str) -> (SocketAddr, PathBuf) {
        let base =
            std::env::temp_dir().join(format!("lockscope-http-{name}-{}", std::process::id()));
        let folder = base.join("page");
        fs::create_dir_all(folder.join("lessons")).unwrap();
        fs::write(folder.join("index.html"), "<h1>hello</h1>").unwrap();
        fs::write(folder.join("app.wasm"), b"\0asm").unwrap();
        fs::write(base.join("secret.txt"), "secret").unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let served = folder.clone();
        thread::spawn(move || serve(&listener, &served));
        (address, folder)
    }

    fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        String::from_utf8_lossy(&reply).into_owned()
    }

    #[test]
    fn files_come_with_their_type_and_head_without_their_body() {
        let (address, _) = server("types");
        let page = ask(address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
        assert!(page.contains("Content-Type: text/html"), "{page}");
        assert!(page.contains("Cache-Control: no-cache"), "{page}");
        assert!(page.ends_with("\r\n\r\n<h1>hello</h1>"), "{page}");

        let head = ask(address, "HEAD /app.wasm HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(head.contains("Content-Type: application/wasm\r\nContent-Length: 4\r\n"), "{head}");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
    }

    #[test]
    fn what_is_not_there_or_not_allowed_is_refused() {
        let (address, _) = server("refusals");
        let status = |request: &str| ask(address, request)[9..12].to_owned();
        assert_eq!(status("GET /nothing.html HTTP/1.1\r\n\r\n"), "404");
        assert_eq!(status("GET /lessons HTTP/1.1\r\n\r\n"), "404");
        assert_eq!(status("GET /lessons/ HTTP/1.1\r\n\r\n"), "404");
        assert_eq!(status("GET /../secret.txt HTTP/1.1\r\n\r\n"), "400");
        assert_eq!(status("GET /%2e%2e/secret.txt HTTP/1.1\r\n\r\n"), "400");
        assert_eq!(status("POST / HTTP/1.1\r\n\r\n"), "405");
        assert_eq!(status("nonsense\r\n\r\n"), "405");
        assert_eq!(ask(address, "\r\n\r\n"), "");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let (address, folder) = server("links");
        let link = folder.join("link.txt");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(folder.join("../secret.txt"), &link).unwrap();
        let reply = ask(address, "GET /link.txt HTTP/1.1\r\n\r\n");
        assert!(reply.starts_with("HTTP/1.1 404"), "{reply}");
    }

    #[test]
    fn silent_connections_do_not_block_others() {
        let (address, _) = server("silence");
        let silent: Vec<_> =
            (0..CONNECTIONS_MAX / 2).map(|_| TcpStream::connect(address)).collect();
        let reply = ask(address, "GET / HTTP/1.1\r\n\r\n");
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        drop(silent);
    }
}
