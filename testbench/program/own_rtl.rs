//! What is said at build time of RTL that does not fit. The whole way, with real builds, is in
//! testbench/faults/own_rtl.rs.

use std::path::Path;

#[path = "../../sim/top_check.rs"]
mod top_check;

use top_check::{check_ports, expected_ports, explained, numbers_that_differ};

/// The header that Verilator writes for a top with these ports.
fn header(ports: &[top_check::Port]) -> String {
    let line = |p: &top_check::Port| {
        let way = if p.input { "IN" } else { "OUT" };
        format!("    VL_{way}W(&{},{},0,0);\n", p.name, p.bits - 1)
    };
    ports.iter().map(line).collect()
}

#[test]
fn ports_that_are_missing_or_different_are_named() {
    let good = expected_ports();
    assert_eq!(check_ports(&header(&good)), Ok(()));
    assert_eq!(good.len(), 5 + 3 * 12);

    let mut ports = good.clone();
    let retire = ports.iter().position(|p| p.name == "retire_valid_o").expect("it is one");
    ports[retire].name = "retire_vld_o".into();
    let cmd = ports.iter().position(|p| p.name == "cmd_i").expect("it is one");
    ports[cmd].bits = 896;
    let ready = ports.iter().position(|p| p.name == "cqe_ready_i").expect("it is one");
    ports[ready].input = false;
    let said = check_ports(&header(&ports)).expect_err("three are wrong");
    assert_eq!(
        said,
        "rnic_top does not have the ports that it is driven by:\n  \
         port cmd_i is an input of 896 bits, and must be an input of 928 bits (cmd_t)\n  \
         port cqe_ready_i is an output of 1 bit, and must be an input of 1 bit\n  \
         port retire_valid_o is missing: an output of 1 bit\n  \
         ports that nobody drives or reads: retire_vld_o"
    );
}

#[test]
fn words_about_the_command_line_become_words_about_the_rtl() {
    let list = Path::new("my/rnic.f");
    let said = |stderr: &str| explained(list, stderr);
    let top = "%Error: Specified --top-module 'rnic_top' was not found in design.";
    assert_eq!(said(top).as_deref(), Some("none of the files in my/rnic.f has a module rnic_top"));
    let size = "%Error: Parameters from the command line were not found in the design: NUM_KEY\n";
    assert!(said(size).expect("known").ends_with("lacks parameters that set its sizes: NUM_KEY"));
    let watch = "%Error: sim/rnic_watch.sv:170:8: Can't find definition of variable: 'rd_op_q'";
    assert!(said(watch).expect("known").contains("an empty file will do"));
    assert_eq!(said("%Error: my/rnic_top.sv:3:1: syntax error"), None);
}

#[test]
fn numbers_that_differ_are_named_without_the_compiler_page() {
    let text = "QPS_RTS of rtl/rnic_pkg.sv is not RNIC_QPS_RTS of rnic_abi.h";
    for stderr in [
        format!("sim/abi_check.h:13:62: error: static assertion failed: {text}\n   13 |  a(b\n"),
        format!("x.h:1:1: error: static assertion failed due to requirement 'a == b': {text}\n"),
    ] {
        assert_eq!(numbers_that_differ(&stderr), [format!("  {text}")]);
    }
    let missing = "sim/abi_check.h:12:1: error: 'OUT_OK' is not a member of 'Vsmall_rnic_pkg'\n";
    assert_eq!(numbers_that_differ(missing), ["  'OUT_OK' is not a member of 'Vsmall_rnic_pkg'"]);
}
