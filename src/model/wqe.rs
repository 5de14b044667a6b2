//! Meaning of a send WQE: what it asks for, how large it is, what becomes of it on the wire, and
//! everything that is wrong with it.

use super::packets::packets_for;
use super::{
    Config, ControlSegment, OpClass, Policy, PostSend, Transport, WireFamily, WireHeaders,
    WqeErrors, WqeFormat, mtu_bytes, status,
};

/// A message is at most 2^31 bytes long.
pub const MAX_MESSAGE: u32 = 1 << 31;

/// A decoded send WQE.
///
/// Fields that depend on the operation are empty or 0 where [`WqeDecoded::class`] is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WqeDecoded {
    /// Everything that is wrong, all at once. A key is not judged where the payload is inline.
    pub errors: WqeErrors,
    /// `None`: the opcode is none of the eight.
    pub class: Option<OpClass>,
    /// The packed fields.
    pub control: ControlSegment,
    /// Requested: wait for earlier READs and atomics.
    pub fence: bool,
    /// Requested: write a CQE on success.
    pub signal: bool,
    /// Requested: wake the peer.
    pub solicit_requested: bool,
    /// BTH SE as it goes on the wire: only where a receive is consumed.
    pub solicited: bool,
    /// Requested: payload in the WQE.
    pub inline_requested: bool,
    /// Placement: true, the payload lies in the WQE; false, it is fetched by DMA.
    pub inline_data: bool,
    /// Data segments that follow the fixed ones.
    pub segments: u8,
    /// Bytes of the whole WQE.
    pub wqe_bytes: u32,
    /// 64-byte blocks of the send queue that it takes.
    pub wqe_blocks: u32,
    /// Fixed segments plus the 4-byte inline header; 0 if the operation carries no payload.
    pub bytes_before_inline_payload: u32,
    /// Headers besides BTH.
    pub headers: WireHeaders,
    /// It uses up a receive of the peer.
    pub consumes_receive: bool,
    /// Packet opcodes that the request expands into.
    pub family: Option<WireFamily>,
    /// Request packets: 1 is ONLY, n is FIRST, n − 2 × MIDDLE, LAST.
    pub packets: u32,
    /// Packet opcodes of the response: READ only.
    pub response_family: Option<WireFamily>,
    /// Packets of a READ's response, else 0.
    pub response_packets: u32,
    /// Payload bytes.
    pub length: u32,
    /// Immediate or invalidate key, 0 for other operations.
    pub misc: u32,
}

impl WqeDecoded {
    /// `ibv_wc_status` with which it completes if it may not leave, or `None` if nothing is wrong.
    pub const fn rejected_status(&self) -> Option<u8> {
        rejected_status(self.errors)
    }
}

/// Errors in the form of a request.
const FORM: WqeErrors = WqeErrors::BAD_OPCODE
    .union(WqeErrors::BAD_TRANSPORT)
    .union(WqeErrors::RESERVED)
    .union(WqeErrors::BAD_FENCE)
    .union(WqeErrors::BAD_DS)
    .union(WqeErrors::WALK_FORMAT);
const LENGTH: WqeErrors = WqeErrors::BAD_LENGTH.union(WqeErrors::WALK_LENGTH);

/// The status of a rejected WQE: form is judged before length, length before keys.
pub(crate) const fn rejected_status(errors: WqeErrors) -> Option<u8> {
    if errors.is_empty() {
        None
    } else if errors.0 & FORM.0 != 0 {
        Some(status::LOC_QP_OP_ERR)
    } else if errors.0 & LENGTH.0 != 0 {
        Some(status::LOC_LEN_ERR)
    } else {
        Some(status::LOC_PROT_ERR)
    }
}

/// Decodes a send WQE as a QP of `transport` would take it.
///
/// `path_mtu` is the QP's `ibv_mtu` number; UD uses the port's instead. The QP number of `post`
/// is not looked at.
pub fn decode_wqe(
    post: &PostSend,
    transport: Transport,
    path_mtu: u8,
    policy: &Policy,
    config: &Config,
) -> WqeDecoded {
    let control = ControlSegment::unpack(&post.ctrl);
    let class = OpClass::from_mlx5(control.opcode);
    let length = post.payload_len;
    let inline_requested = match post.format {
        WqeFormat::Book => control.inline,
        WqeFormat::Mlx5 => post.inline,
    };
    let inline_data = inline_requested
        && length <= policy.max_inline
        && class.is_some_and(OpClass::carries_payload);

    let mut errors = WqeErrors::EMPTY;
    let mut fault = |found: bool, error| {
        if found {
            errors |= error;
        }
    };
    fault(control.reserved_set(post.format), WqeErrors::RESERVED);
    fault(control.fence_mode >= 5, WqeErrors::BAD_FENCE);
    fault(length > MAX_MESSAGE, WqeErrors::BAD_LENGTH);
    match class {
        None => fault(true, WqeErrors::BAD_OPCODE),
        Some(class) => {
            fault(!class.on(transport), WqeErrors::BAD_TRANSPORT);
            fault(
                !ds_fits(class, transport, post.format, control.ds),
                WqeErrors::BAD_DS,
            );
            fault(class.is_atomic() && length != 8, WqeErrors::BAD_LENGTH);
            let over_port = transport == Transport::Ud && length > mtu_bytes(config.max_mtu);
            fault(over_port, WqeErrors::BAD_LENGTH);
            fault(post.walk_format, WqeErrors::WALK_FORMAT);
            fault(post.walk_length, WqeErrors::WALK_LENGTH);
            fault(post.walk_key && !inline_data, WqeErrors::WALK_KEY);
        }
    }

    let fixed = class.map_or(1, |c| c.fixed_units(transport));
    let (segments, wqe_bytes) = match post.format {
        WqeFormat::Book => (control.ds, 16 * (u32::from(fixed) + u32::from(control.ds))),
        WqeFormat::Mlx5 => (control.ds.saturating_sub(fixed), 16 * u32::from(control.ds)),
    };
    let mtu = match transport {
        Transport::Rc | Transport::Uc => mtu_bytes(path_mtu),
        Transport::Ud => mtu_bytes(config.max_mtu),
    };
    let (packets, response_packets) = match class {
        None => (0, 0),
        Some(OpClass::Read) => (1, packets_for(length, mtu)),
        Some(class) if class.is_atomic() => (1, 0),
        Some(_) => (packets_for(length, mtu), 0),
    };
    let consumes_receive = class.is_some_and(OpClass::consumes_receive);
    WqeDecoded {
        errors,
        class,
        control,
        fence: matches!(control.fence_mode, 2..=4),
        signal: control.completion_mode >= 2,
        solicit_requested: control.solicited,
        solicited: control.solicited && consumes_receive,
        inline_requested,
        inline_data,
        segments,
        wqe_bytes,
        wqe_blocks: wqe_bytes.div_ceil(64),
        bytes_before_inline_payload: match class {
            Some(class) if class.carries_payload() => 16 * u32::from(fixed) + 4,
            _ => 0,
        },
        headers: class.map_or(WireHeaders::EMPTY, OpClass::headers),
        consumes_receive,
        family: class.map(WireFamily::of),
        packets,
        response_family: (class == Some(OpClass::Read)).then_some(WireFamily::ReadResponse),
        response_packets,
        length,
        misc: if class.is_some_and(OpClass::uses_misc) {
            control.misc
        } else {
            0
        },
    }
}

/// Is the segment count in the range of the class?
fn ds_fits(class: OpClass, transport: Transport, format: WqeFormat, ds: u8) -> bool {
    match format {
        WqeFormat::Book => match class {
            OpClass::Read => ds >= 1,
            OpClass::CompareSwap | OpClass::FetchAdd => ds == 1,
            _ => true,
        },
        WqeFormat::Mlx5 => ds >= class.fixed_units(transport),
    }
}
