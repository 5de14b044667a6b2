//! Commands that the firmware of an mlx5 adapter refused: as the kernel logs them, and as UCX
//! logs those that it gave itself through DevX.
//!
//! Names and numbers are `MLX5_CMD_OP_*` of the kernel's `mlx5_ifc.h`.

use super::lex::FwCommand;
use super::names;
use super::record::FwCommandRecord;
use super::words::{after, byte, has, hex, number, word};

const COMMANDS: &[(u16, &str)] = &[
    (0x400, "CREATE_CQ"),
    (0x401, "DESTROY_CQ"),
    (0x402, "QUERY_CQ"),
    (0x403, "MODIFY_CQ"),
    (0x500, "CREATE_QP"),
    (0x501, "DESTROY_QP"),
    (0x502, "RST2INIT_QP"),
    (0x503, "INIT2RTR_QP"),
    (0x504, "RTR2RTS_QP"),
    (0x505, "RTS2RTS_QP"),
    (0x506, "SQERR2RTS_QP"),
    (0x507, "2ERR_QP"),
    (0x50a, "2RST_QP"),
    (0x50b, "QUERY_QP"),
    (0x50c, "SQD_RTS_QP"),
    (0x50e, "INIT2INIT_QP"),
    (0xb16, "ALLOW_OTHER_VHCA_ACCESS"),
];

/// Reads a line.
pub fn read(body: &str, w: &[String]) -> Option<FwCommand> {
    of_kernel(body, w).or_else(|| of_devx(body))
}

/// `RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f)`
fn of_kernel(body: &str, w: &[String]) -> Option<FwCommand> {
    let i = w.iter().position(|x| x == "op_mod").filter(|i| *i >= 2)?;
    if !has(w, &["failed"]) {
        return None;
    }
    let (text, rest) = body.split_once("status ")?.1.split_once('(')?;
    Some(FwCommand {
        command: w[i - 2].to_ascii_uppercase(),
        opcode: Some(u16::try_from(number(&w[i - 1])?).ok()?),
        status_text: Some(text.trim().to_owned()),
        status: Some(byte(number(rest.split_once(')')?.0))?),
        syndrome: word(after(w, &["syndrome"])),
        error: None,
    })
}

/// `mlx5dv_devx_obj_modify(opcode=0x503) failed, syndrome 0x823f8d: Remote I/O error`. Older
/// prints have the numbers in hex without 0x.
fn of_devx(body: &str) -> Option<FwCommand> {
    let (call, rest) = body.split_once("mlx5dv_devx_")?.1.split_once('(')?;
    let (argument, rest) = rest.split_once(')')?;
    let (_, rest) = rest.split_once("failed")?.1.split_once("syndrome ")?;
    let (syndrome, error) = match rest.split_once(':') {
        Some((s, e)) => (s, Some(e.trim().to_owned())),
        None => (rest, None),
    };
    let (opcode, command) = devx_command(call, argument.trim());
    Some(FwCommand {
        command,
        opcode,
        status_text: None,
        status: None,
        syndrome: word(hex(syndrome.trim())),
        error: error.filter(|e| !e.is_empty()),
    })
}

/// The argument is a number, the object that is created, the states, or the command.
fn devx_command(call: &str, argument: &str) -> (Option<u16>, String) {
    let digits = argument.strip_prefix("opcode=").unwrap_or(argument);
    if let Some(n) = hex(digits).and_then(|n| u16::try_from(n).ok()) {
        let name = COMMANDS.iter().find(|(o, _)| *o == n).map(|(_, name)| *name);
        return (Some(n), name.map_or_else(|| format!("command 0x{n:x}"), str::to_owned));
    }
    let name = argument.to_ascii_uppercase();
    let name = match name.as_str() {
        "2INIT" => "RST2INIT_QP".to_owned(),
        "2RTR" => "INIT2RTR_QP".to_owned(),
        "2RTS" => "RTR2RTS_QP".to_owned(),
        _ if call.ends_with("create") => format!("CREATE_{name}"),
        _ => name,
    };
    (COMMANDS.iter().find(|(_, n)| *n == name).map(|(o, _)| *o), name)
}

/// What a refused command means for the caller of verbs.
pub fn record(line: usize, c: FwCommand) -> FwCommandRecord {
    let transition = names::transition_of_command(&c.command);
    let mut say = Vec::new();
    if c.syndrome == Some(0) {
        say.push(
            "syndrome 0: the firmware was not reached; the library or the kernel refused the call"
                .to_owned(),
        );
    } else {
        say.push("a firmware command was refused; this is no completion, and its status and syndrome are numbers of their own, the syndrome not public".to_owned());
    }
    if let Some((from, to)) = transition {
        say.push(format!(
            "it is an ibv_modify_qp from {from} to {to}: rnic-cosim explain --from {from} --to {to} (with --transport and --attrs) says what the call must and may hold"
        ));
    }
    FwCommandRecord {
        line,
        transition,
        command: c.command,
        opcode: c.opcode,
        status: c.status,
        status_text: c.status_text,
        syndrome: c.syndrome,
        error: c.error,
        say,
    }
}
