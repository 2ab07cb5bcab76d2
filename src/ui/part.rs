//! Components behind one component. Each component type of its own adds some two kilobytes of code for mounting,
//! comparing and unmounting; mounted through [`part`], all of them share that code.

use std::any::Any;
use std::rc::Rc;

use yew::functional::{FunctionProvider, Hook, HookContext};
use yew::html::HtmlResult;
use yew::virtual_dom::{Key, VChild};
use yew::{Html, Properties, component};

/// Something to draw, whatever component it is.
trait Piece {
    fn draw(&self, context: &mut HookContext) -> HtmlResult;
    fn same(&self, other: &dyn Piece) -> bool;
    fn props(&self) -> &dyn Any;
}

struct Of<T: FunctionProvider>(T::Properties);

impl<T: FunctionProvider + 'static> Piece for Of<T> {
    fn draw(&self, context: &mut HookContext) -> HtmlResult {
        T::run(context, &self.0)
    }

    fn same(&self, other: &dyn Piece) -> bool {
        other.props().downcast_ref::<T::Properties>() == Some(&self.0)
    }

    fn props(&self) -> &dyn Any {
        &self.0
    }
}

#[derive(Properties)]
struct Props {
    piece: Rc<dyn Piece>,
}

impl PartialEq for Props {
    fn eq(&self, other: &Props) -> bool {
        Rc::ptr_eq(&self.piece, &other.piece) || self.piece.same(&*other.piece)
    }
}

/// The hooks of a piece run as the hooks of the component that carries it.
struct Draw(Rc<dyn Piece>);

impl Hook for Draw {
    type Output = HtmlResult;

    fn run(self, context: &mut HookContext) -> HtmlResult {
        self.0.draw(context)
    }
}

fn use_piece(piece: &Rc<dyn Piece>) -> Draw {
    Draw(piece.clone())
}

#[component]
fn Carrier(props: &Props) -> HtmlResult {
    use_piece(&props.piece)
}

/// The component `T` with these properties. The key has to tell it apart from whatever else may stand at its place and
/// from its siblings: two components of the same key are taken for one.
pub fn part<T: FunctionProvider + 'static>(key: impl Into<Key>, props: T::Properties) -> Html {
    let piece: Rc<dyn Piece> = Rc::new(Of::<T>(props));
    VChild::<Carrier>::new(Props { piece }, Some(key.into())).into()
}
