//! The compiler's version, for `hello`.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map(|out| out.stdout);
    let version = String::from_utf8(version.unwrap_or_default()).unwrap_or_default();
    let number = version.split_whitespace().nth(1).unwrap_or("unknown");
    println!("cargo::rustc-env=RUSTC_VERSION={number}");
}
