//! JSON in little code: a tree, a reader and a writer.
//!
//! The page is downloaded before it shows anything, and a derived reader of the packed lessons was a twentieth of it. So the
//! format is defined by serde in native builds, and this reads the same; tests compare the two.

use std::fmt;

/// A value. Numbers are whole: nothing in Lockscope is written as a fraction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Json {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number from zero up.
    Number(u64),
    /// A whole number below zero.
    Negative(i64),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<Json>),
    /// Values by name, in the order of writing.
    Object(Vec<(String, Json)>),
}

/// How deep values may nest; what is deeper is no lesson, and would run out of stack.
const DEEPEST: usize = 64;

impl Json {
    /// Reads a text.
    ///
    /// # Errors
    /// Which character, counted from 1, is not what was expected there.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at < reader.text.len() { reader.wrong("the end") } else { Ok(value) }
    }

    /// The value of a name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields.iter().find(|f| f.0 == name).map(|f| &f.1),
            _ => None,
        }
    }

    /// An object of these fields; those that are none are left out.
    pub fn object(fields: impl IntoIterator<Item = (&'static str, Option<Json>)>) -> Json {
        let there = fields.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
        Json::Object(there.collect())
    }

    fn write(&self, out: &mut String, indent: Option<usize>) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
            Json::Number(number) => out.push_str(&number.to_string()),
            Json::Negative(number) => out.push_str(&number.to_string()),
            Json::Text(text) => quote(text, out),
            Json::List(values) => {
                enclose(out, ['[', ']'], values.len(), indent, |out, i, indent| {
                    if let Some(value) = values.get(i) {
                        value.write(out, indent);
                    }
                });
            }
            Json::Object(fields) => {
                enclose(out, ['{', '}'], fields.len(), indent, |out, i, indent| {
                    if let Some((name, value)) = fields.get(i) {
                        quote(name, out);
                        out.push_str(if indent.is_some() { ": " } else { ":" });
                        value.write(out, indent);
                    }
                });
            }
        }
    }
}

/// One line with `{}`, indented lines with `{:#}`.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out, f.alternate().then_some(0));
        f.write_str(&out)
    }
}

fn enclose(
    out: &mut String,
    [open, close]: [char; 2],
    count: usize,
    indent: Option<usize>,
    mut item: impl FnMut(&mut String, usize, Option<usize>),
) {
    let deeper = indent.map(|i| i + 1);
    let line = |out: &mut String, depth: Option<usize>| {
        if let Some(depth) = depth {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
    };
    out.push(open);
    for i in 0..count {
        if i > 0 {
            out.push(',');
        }
        line(out, deeper);
        item(out, i, deeper);
    }
    if count > 0 {
        line(out, indent);
    }
    out.push(close);
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong<T>(&self, expected: &str) -> Result<T, String> {
        let read = self.text.get(..self.at).unwrap_or(self.text);
        let character = String::from_utf8_lossy(read).chars().count() + 1;
        Err(format!("character {character}: expected {expected}"))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        self.space();
        if depth > DEEPEST {
            return self.wrong("less nesting");
        }
        match self.peek() {
            Some(b'"') => self.string().map(Json::Text),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = [
                    ("null", Json::Null),
                    ("true", Json::Bool(true)),
                    ("false", Json::Bool(false)),
                ];
                for (word, value) in words {
                    if self.text.get(self.at..).is_some_and(|t| t.starts_with(word.as_bytes())) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                self.wrong("a value")
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut values = Vec::new();
        while !self.take(b']') {
            if !values.is_empty() && !self.take(b',') {
                return self.wrong("`,` or `]`");
            }
            values.push(self.value(depth + 1)?);
        }
        Ok(Json::List(values))
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.at += 1;
        let mut fields = Vec::new();
        while !self.take(b'}') {
            if !fields.is_empty() && !self.take(b',') {
                return self.wrong("`,` or `}`");
            }
            self.space();
            let name = self.string()?;
            if !self.take(b':') {
                return self.wrong("`:`");
            }
            fields.push((name, self.value(depth + 1)?));
        }
        Ok(Json::Object(fields))
    }

    fn number(&mut self) -> Result<Json, String> {
        let from = self.at;
        self.at += 1;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        let digits = self.text.get(from..self.at).and_then(|d| std::str::from_utf8(d).ok());
        let digits = digits.unwrap_or("");
        let number = digits.parse().map(Json::Number).ok();
        match number.or_else(|| digits.parse().map(Json::Negative).ok()) {
            Some(number) if !matches!(self.peek(), Some(b'.' | b'e' | b'E')) => Ok(number),
            _ => self.wrong("a whole number of at most 64 bits"),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        if self.peek() != Some(b'"') {
            return self.wrong("`\"`");
        }
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while self.peek().is_some_and(|b| b != b'"' && b != b'\\') {
                self.at += 1;
            }
            // The text was UTF-8, and both ends stand at an ASCII character.
            let plain = self.text.get(from..self.at).unwrap_or_default();
            out.push_str(&String::from_utf8_lossy(plain));
            if self.peek() == Some(b'\\') {
                self.at += 1;
                out.push(self.escape()?);
            } else if self.peek() == Some(b'"') {
                self.at += 1;
                return Ok(out);
            } else {
                return self.wrong("`\"`");
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let letter = self.peek();
        self.at += 1;
        Ok(match letter {
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'u') => {
                let mut code = self.unit()?;
                // Two units make one character beyond the first 65,536.
                if (0xd800..0xdc00).contains(&code)
                    && self.text.get(self.at..self.at + 2) == Some(b"\\u")
                {
                    self.at += 2;
                    let low = self.unit()?;
                    code = 0x1_0000 + ((code - 0xd800) << 10) + (low & 0x3ff);
                }
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return self.wrong("an escape such as `\\n`"),
        })
    }

    fn unit(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|d| std::str::from_utf8(d).ok());
        match digits.and_then(|d| u32::from_str_radix(d, 16).ok()) {
            Some(unit) => {
                self.at += 4;
                Ok(unit)
            }
            None => self.wrong("four hexadecimal digits"),
        }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Json {
        Json::Number(number)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Json {
        u64::try_from(number).map_or(Json::Negative(number), Json::Number)
    }
}

impl From<bool> for Json {
    fn from(yes: bool) -> Json {
        Json::Bool(yes)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl FromIterator<Json> for Json {
    fn from_iter<I: IntoIterator<Item = Json>>(values: I) -> Json {
        Json::List(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn what_is_written_is_read_again_here_and_by_serde() {
        let text = r#"{"a":[1,-2,true,null,"ü\"\\\n\u0001𝄞",18446744073709551615],"b":{},"c":[]}"#;
        let json = Json::parse(text).unwrap();
        assert_eq!(json.to_string(), text);
        let serde: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(format!("{json:#}"), format!("{serde:#}"));
        assert_eq!(Json::parse(&format!("{json:#}")).unwrap(), json);
        assert_eq!(Json::parse(r#""\ud834\udd1e\/""#).unwrap(), Json::Text("𝄞/".into()));
    }

    #[test]
    fn what_is_no_json_is_an_error_with_its_place() {
        for (text, why) in [
            ("", "character 1: expected a value"),
            ("[1 2]", "character 4: expected `,` or `]`"),
            ("[\"ü\",x]", "character 6: expected a value"),
            ("{\"a\" 1}", "character 6: expected `:`"),
            ("1.5", "character 2: expected a whole number of at most 64 bits"),
            ("-", "character 2: expected a whole number of at most 64 bits"),
            ("\"a", "character 3: expected `\"`"),
            ("\"\\u12\"", "character 4: expected four hexadecimal digits"),
            ("1 1", "character 3: expected the end"),
        ] {
            assert_eq!(Json::parse(text), Err(why.into()), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }
}
