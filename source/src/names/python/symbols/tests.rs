use super::*;

fn find<'a>(symbols: &'a [Symbol<'a>], name: &str) -> &'a Symbol<'a> {
    symbols.iter().find(|symbol| symbol.name == name).unwrap()
}

#[test]
fn definitions_have_their_lines_and_what_they_use() {
    let text = "\
import os

LIMIT = make(4)
CODES: dict[str, Code] = {}


@app.route('/x', methods=GET)
@cached
def view(request: Request, size=LIMIT) -> Answer:
    text = render(request.body)
    def inner(y):
        return y.upper() + text.lower()
    return Answer(f'{wrap(text)} {{no}}').send(kind=1)

class Shop(base.Store, metaclass=Meta):
    name = Field()

    def buy(self, what):
        return self.total.add(what)[0].price
";
    let all = symbols(text);
    let names: Vec<_> = all.iter().map(|s| (s.name, s.kind, s.lines)).collect();
    assert_eq!(
        names,
        [
            ("", Kind::Module, (1, 20)),
            ("LIMIT", Kind::Variable, (3, 3)),
            ("CODES", Kind::Variable, (4, 4)),
            ("view", Kind::Function, (7, 13)),
            ("Shop", Kind::Class, (15, 19)),
            ("buy", Kind::Method, (18, 19)),
        ]
    );
    let view = find(&all, "view");
    assert_eq!(view.decorators, ["app.route", "cached"]);
    assert_eq!(view.parameters, ["request", "size"]);
    assert_eq!(
        view.uses,
        [
            Use::Name("Answer"),
            Use::Name("GET"),
            Use::Name("LIMIT"),
            Use::Name("app.route"),
            Use::Name("cached"),
            Use::Name("render"),
            Use::Name("wrap"),
            Use::Member("body"),
            Use::Member("lower"),
            Use::Member("send"),
            Use::Member("upper"),
            Use::Annotation("Answer"),
            Use::Annotation("Request"),
        ]
    );
    let shop = find(&all, "Shop");
    assert_eq!(shop.bases, ["base.Store"]);
    assert_eq!(
        shop.uses,
        [Use::Name("Field"), Use::Name("Meta"), Use::Name("base.Store")]
    );
    let buy = find(&all, "buy");
    assert_eq!(buy.parameters, ["what"]);
    assert_eq!(
        buy.uses,
        [Use::Member("add"), Use::Member("price"), Use::Member("total")]
    );
}

#[test]
fn a_fixture_says_its_name_and_whether_it_is_used_by_itself() {
    let text =
        "@pytest.fixture(name='client', autouse=True)\ndef make_client(app):\n    yield app.test_client()\n";
    let all = symbols(text);
    let fixture = find(&all, "make_client");
    assert_eq!(fixture.decorators, ["pytest.fixture"]);
    assert!(fixture.is_autouse);
    assert_eq!(fixture.given_name, Some("client"));
}

#[test]
fn strings_that_may_be_names_are_kept() {
    let all = symbols("def f(o):\n    getattr(o, 'run'); patch('a.b.c'); x('two words'); g(f'visit_{o}')\n");
    let texts: Vec<_> = all[1]
        .uses
        .iter()
        .filter(|used| matches!(used, Use::Text(_)))
        .collect();
    assert_eq!(
        texts,
        [&Use::Text("a.b.c"), &Use::Text("run"), &Use::Text("visit_")]
    );
}
