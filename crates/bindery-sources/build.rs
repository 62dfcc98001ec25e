//! Embeds every dialect file of the workspace, so that adding one takes no code.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let folder = Path::new(&manifest).join("../../dialects");
    let mut names: Vec<String> = fs::read_dir(&folder)?
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "toml"))
        .collect();
    names.sort();
    let mut list = String::from("&[\n");
    for name in &names {
        let path = folder.join(name);
        let path = path.display();
        writeln!(list, "    (\"{name}\", include_str!(r\"{path}\")),").map_err(io::Error::other)?;
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("shipped.rs"), list)?;
    announce(&folder);
    Ok(())
}

/// A build script talks to cargo on stdout.
fn announce(folder: &Path) {
    println!("cargo:rerun-if-changed={}", folder.display());
}
