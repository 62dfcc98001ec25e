use super::*;
use crate::composition::{Grants, compose};

const TWO: &str = "[[variant]]\nexperiment = \"tone\"\nname = \"long\"\n\n[[variant]]\nexperiment = \"tone\"\nname = \"short\"\nweight = 3\n\
                   sections = [\"short\"]\nwithout = [\"tone\"]\n";

fn asking(user: &str) -> Asking<'_> {
    Asking {
        user: Some(user),
        project: "/p",
    }
}

fn fixed(variant: &str, because: Because) -> Fixed {
    Fixed {
        experiment: "tone".into(),
        variant: variant.into(),
        because,
    }
}

#[test]
fn a_variant_brings_its_sections_and_takes_others_away() {
    let experiments = parse(TWO, "config.toml", Owner::User).unwrap();
    let of = |fixed: &[Fixed]| {
        let (assigned, selection, notices) = assign(&experiments, asking("ada"), fixed).unwrap();
        assert_eq!((assigned.len(), notices.len()), (1, 0));
        (assigned[0].variant.clone(), assigned[0].because, selection)
    };
    let (name, because, selection) = of(&[fixed("long", Because::Session)]);
    assert_eq!((name.as_str(), because), ("long", Because::Session));
    assert!(selection.written.contains("short") && selection.all.is_empty());
    let (name, because, selection) = of(&[fixed("long", Because::Session), fixed("short", Because::Flag)]);
    assert_eq!((name.as_str(), because), ("short", Because::Flag));
    assert!(selection.written.is_empty() && selection.all.contains("tone"));
    assert_eq!(of(&[]).1, Because::Hash);
}

#[test]
fn the_same_user_gets_the_same_and_users_are_shared_out() {
    let experiments = parse(TWO, "config.toml", Owner::User).unwrap();
    let of = |user: &str| {
        assign(&experiments, asking(user), &[]).unwrap().0[0]
            .variant
            .clone()
    };
    let all: Vec<String> = (0..400).map(|user| of(&format!("u{user}"))).collect();
    assert_eq!(
        all,
        (0..400).map(|user| of(&format!("u{user}"))).collect::<Vec<_>>()
    );
    let short = all.iter().filter(|name| *name == "short").count();
    assert!((270..330).contains(&short), "{short}");
}

#[test]
fn a_variant_that_is_gone_is_told_and_one_that_never_was_is_refused() {
    let experiments = parse(TWO, "config.toml", Owner::User).unwrap();
    let (assigned, _, notices) =
        assign(&experiments, asking("ada"), &[fixed("old", Because::Session)]).unwrap();
    assert_eq!(assigned[0].because, Because::Hash);
    assert_eq!(notices[0].code, "variant-gone");
    let refused = assign(&experiments, asking("ada"), &[fixed("shrt", Because::Flag)]).unwrap_err();
    assert!(refused.to_string().contains("did you mean `short`?"), "{refused}");
}

#[test]
fn what_cannot_be_meant_is_an_error_at_its_line() {
    let table = |more: &str| format!("model = \"m\"\n[[variant]]\nexperiment = \"e\"\nname = \"a\"\n{more}");
    for (text, said) in [
        (table("weight = -1\n"), "invalid value"),
        (table("weight = 2000000\n"), "at most 1000000"),
        (table("weight = 0\n"), "nobody could get one"),
        (table("wieght = 1\n"), "unknown field"),
        (
            table("[[variant]]\nexperiment = \"e\"\nname = \"a\"\n"),
            "already",
        ),
        (
            table("key = \"user\"\n[[variant]]\nexperiment = \"e\"\nname = \"b\"\nkey = \"project\"\n"),
            "two keys",
        ),
        (
            table("[[variant]]\nexperiment = \"no name\"\nname = \"a\"\n"),
            "at most 64 letters",
        ),
        ("variant = 3\n".to_owned(), "invalid type"),
    ] {
        let problems = parse(&text, "f", Owner::User).unwrap_err();
        assert!(problems[0].to_string().contains(said), "{text}: {}", problems[0]);
        assert!(problems[0].at.line > 0, "{text}");
    }
    assert_eq!(parse("model = 1", "f", Owner::User).unwrap(), []);
}

#[test]
fn a_repository_chooses_among_its_own_sections_alone() {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::new(Some(&folder.path().join("home")), None, folder.path().join("p"));
    std::fs::create_dir_all(places.project_sections()).unwrap();
    std::fs::write(places.project_sections().join("short.md"), "SHORT").unwrap();
    let composition = compose(&places, Grants::default()).unwrap();
    let problems = |text: &str, owner| {
        let experiments = parse(text, "f", owner).unwrap();
        let problems = experiments.iter().flat_map(|one| one.problems(&composition));
        problems.map(|notice| notice.code.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(problems(TWO, Owner::User), [""; 0]);
    assert_eq!(problems(TWO, Owner::Project), ["variant-forbidden"]);
    let unknown = TWO.replace("\"short\"]", "\"shrt\"]");
    assert_eq!(problems(&unknown, Owner::User), ["variant-section"]);
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = parse(&format!("[[variant]]\n{text}"), "f", Owner::Project);
    }
}
