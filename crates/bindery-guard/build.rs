//! Compiles the shipped pattern files into `OUT_DIR`: reading and analysing them takes longer than
//! many a scan. The same for the letters that look like Latin ones.

#[expect(
    dead_code,
    unreachable_pub,
    reason = "the library uses the rest of these modules"
)]
#[path = "src/finding.rs"]
mod finding;

#[expect(dead_code, reason = "the library uses the rest of these modules")]
#[path = "src/heads.rs"]
mod heads;

#[expect(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "the library uses the rest of these modules"
)]
#[path = "src/patterns/mod.rs"]
mod patterns;

#[path = "src/fold/lookalike.rs"]
mod lookalike;

#[expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a failed build script is a failed build, and writing a file is its task"
)]
fn main() {
    for path in [
        "build.rs",
        "src/finding.rs",
        "src/heads.rs",
        "src/patterns",
        "../../patterns",
    ] {
        println!("cargo::rerun-if-changed={path}");
    }
    let set = patterns::load(patterns::BUILTIN).unwrap_or_else(|error| panic!("{error}"));
    let tables = patterns::Tables::compile(set).unwrap_or_else(|error| panic!("{error}"));
    let bytes = postcard::to_allocvec(&tables).expect("tables are plain data");
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out.join("patterns.bin"), bytes).expect("a writable OUT_DIR");
    let shown = |code| char::from_u32(code).and_then(lookalike::of).unwrap_or(0);
    let table: Vec<u8> = lookalike::TABLE.map(shown).collect();
    std::fs::write(out.join("lookalikes.bin"), table).expect("a writable OUT_DIR");
}
