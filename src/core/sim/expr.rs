//! Integer expressions of programs and invariants: `balance - 10`, `X + Y + taken == 100`.

use super::text::{LineError, Scanner, list};

/// An expression over named integers that were resolved to places.
///
/// Arithmetic saturates at the ends of 64 bits; a comparison is 1 when it holds and 0 when not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A number as written.
    Const(i64),
    /// The integer at this place.
    Var(usize),
    /// Two operands and what is done with them.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// 1 when the operand is 0, otherwise 0.
    Not(Box<Expr>),
}

/// What an operator does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the operators' own")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

impl Expr {
    /// The place that it names first, if it names any.
    pub fn first_var(&self) -> Option<usize> {
        match self {
            Expr::Const(_) => None,
            Expr::Var(place) => Some(*place),
            Expr::Binary(_, a, b) => a.first_var().or_else(|| b.first_var()),
            Expr::Not(inner) => inner.first_var(),
        }
    }

    /// The same with numbers in place of the names that are known.
    #[must_use]
    pub fn bound(&self, known: &dyn Fn(usize) -> Option<i64>) -> Expr {
        match self {
            Expr::Const(n) => Expr::Const(*n),
            Expr::Var(place) => known(*place).map_or(Expr::Var(*place), Expr::Const),
            Expr::Not(inner) => Expr::Not(Box::new(inner.bound(known))),
            Expr::Binary(op, a, b) => {
                Expr::Binary(*op, Box::new(a.bound(known)), Box::new(b.bound(known)))
            }
        }
    }

    /// The value with the integers at `vars`; a place beyond them counts as 0.
    pub fn eval(&self, vars: &[i64]) -> i64 {
        match self {
            Expr::Const(n) => *n,
            Expr::Var(place) => vars.get(*place).copied().unwrap_or(0),
            Expr::Not(inner) => i64::from(inner.eval(vars) == 0),
            Expr::Binary(op, left, right) => {
                let (l, r) = (left.eval(vars), right.eval(vars));
                match op {
                    Binary::Add => l.saturating_add(r),
                    Binary::Sub => l.saturating_sub(r),
                    Binary::Mul => l.saturating_mul(r),
                    Binary::Equal => i64::from(l == r),
                    Binary::Unequal => i64::from(l != r),
                    Binary::Less => i64::from(l < r),
                    Binary::LessEqual => i64::from(l <= r),
                    Binary::Greater => i64::from(l > r),
                    Binary::GreaterEqual => i64::from(l >= r),
                    Binary::And => i64::from(l != 0 && r != 0),
                    Binary::Or => i64::from(l != 0 || r != 0),
                }
            }
        }
    }

    /// Reads an expression; names are looked up among `names`, their index is the place.
    ///
    /// # Errors
    /// A name that does not exist (with those that do), or what stands where an operand should.
    pub fn parse(scanner: &mut Scanner<'_>, names: &[String]) -> Result<Expr, LineError> {
        Reader { scanner, names, depth: 0 }.level(0)
    }
}

/// How deep parentheses may nest; deeper input is refused so that no text can exhaust the stack.
const DEEPEST: u32 = 32;

const LEVELS: [&[(&str, Binary)]; 5] = [
    &[("or", Binary::Or)],
    &[("and", Binary::And)],
    &[
        ("==", Binary::Equal),
        ("!=", Binary::Unequal),
        ("<=", Binary::LessEqual),
        (">=", Binary::GreaterEqual),
        ("<", Binary::Less),
        (">", Binary::Greater),
    ],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul)],
];

struct Reader<'s, 'a> {
    scanner: &'s mut Scanner<'a>,
    names: &'s [String],
    depth: u32,
}

impl Reader<'_, '_> {
    fn level(&mut self, level: usize) -> Result<Expr, LineError> {
        let Some(operators) = LEVELS.get(level) else {
            return self.operand();
        };
        let mut left = self.level(level + 1)?;
        while let Some((_, op)) =
            operators.iter().find(|(text, _)| self.scanner.peek_text() == *text)
        {
            self.scanner.take("an operator")?;
            let right = self.level(level + 1)?;
            left = Expr::Binary(*op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr, LineError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.scanner.expected("an expression that nests less deeply"));
        }
        let expr = self.operand_inner();
        self.depth -= 1;
        expr
    }

    fn operand_inner(&mut self) -> Result<Expr, LineError> {
        let wanted = "a number, a name or `(`";
        let token = self.scanner.peek().ok_or_else(|| self.scanner.expected(wanted))?;
        if self.scanner.accept("(") {
            let inner = self.level(0)?;
            self.scanner.demand(")")?;
            return Ok(inner);
        }
        if self.scanner.accept("-") {
            let inner = self.operand()?;
            return Ok(Expr::Binary(Binary::Sub, Box::new(Expr::Const(0)), Box::new(inner)));
        }
        if self.scanner.accept("not") {
            return Ok(Expr::Not(Box::new(self.operand()?)));
        }
        if token.text.starts_with(|c: char| c.is_ascii_digit()) {
            let number = token.text.parse().map_err(|_| self.scanner.expected("a whole number"))?;
            self.scanner.take(wanted)?;
            return Ok(Expr::Const(number));
        }
        if !token.text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Err(self.scanner.expected(wanted));
        }
        let place = self.names.iter().position(|n| n == token.text).ok_or_else(|| {
            let known = list(self.names.iter().map(String::as_str));
            self.scanner
                .wrong(token, format!("there is no `{}` here; there is {known}", token.text))
        })?;
        self.scanner.take(wanted)?;
        Ok(Expr::Var(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(text: &str) -> Result<i64, LineError> {
        let names = ["x".to_string(), "y".to_string()];
        let mut scanner = Scanner::new(text);
        let expr = Expr::parse(&mut scanner, &names)?;
        scanner.end()?;
        Ok(expr.eval(&[7, 3]))
    }

    #[test]
    fn operators_bind_as_in_arithmetic() {
        assert_eq!(eval("x + y * 2 - 1"), Ok(12));
        assert_eq!(eval("(x + y) * 2 == 20 and not x < y"), Ok(1));
        assert_eq!(eval("-x + 9223372036854775807 * 2"), Ok(i64::MAX - 7));
    }

    #[test]
    fn an_unknown_name_lists_those_that_exist() {
        let error = eval("x + z").unwrap_err();
        assert_eq!(error.at, 4);
        assert_eq!(error.message, "there is no `z` here; there is `x` and `y`");
        assert!(eval(&"(".repeat(1000)).is_err());
        assert!(eval(&"-".repeat(100_000)).is_err());
    }
}
