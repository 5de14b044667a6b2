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
pub const fn rejected_status(errors: WqeErrors) -> Option<u8> {
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
            fault(!ds_fits(class, transport, post.format, control.ds), WqeErrors::BAD_DS);
            fault(class.is_atomic() && length != 8, WqeErrors::BAD_LENGTH);
            let over_port = transport == Transport::Ud && length > mtu_bytes(config.max_mtu);
            fault(over_port, WqeErrors::BAD_LENGTH);
            let walked_as_another = post.walked_as.is_some_and(|t| t != transport);
            fault(post.walk_format || walked_as_another, WqeErrors::WALK_FORMAT);
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
        misc: if class.is_some_and(OpClass::uses_misc) { control.misc } else { 0 },
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

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(post: &PostSend, t: Transport) -> WqeDecoded {
        decode_wqe(post, t, 1, &Policy::BOOK, &Config::DEFAULT)
    }

    fn of(control: ControlSegment, format: WqeFormat, payload_len: u32) -> PostSend {
        let ctrl = control.pack().expect("fields fit");
        PostSend { ctrl, format, payload_len, ..PostSend::default() }
    }

    fn bare(class: OpClass) -> ControlSegment {
        ControlSegment { opcode: class.mlx5(), ds: 1, ..ControlSegment::default() }
    }

    /// Smallest and largest legal `ds` per class, both formats, by trying all 64.
    #[test]
    fn segment_counts() {
        use OpClass::*;
        use Transport::{Rc, Uc, Ud};
        let range = |class, t, format| {
            let good: Vec<u8> = (0..64)
                .filter(|&ds| {
                    let post = of(ControlSegment { ds, ..bare(class) }, format, 8);
                    !decode(&post, t).errors.contains(WqeErrors::BAD_DS)
                })
                .collect();
            let (first, last) = (good[0], good[good.len() - 1]);
            assert_eq!(good.len(), usize::from(last - first) + 1, "no holes");
            (first, last)
        };
        for (class, t, book, mlx5) in [
            (Send, Rc, (0, 63), (1, 63)),
            (SendImm, Uc, (0, 63), (1, 63)),
            (SendInvalidate, Rc, (0, 63), (1, 63)),
            (Send, Ud, (0, 63), (4, 63)),
            (Write, Rc, (0, 63), (2, 63)),
            (WriteImm, Uc, (0, 63), (2, 63)),
            (Read, Rc, (1, 63), (2, 63)),
            (CompareSwap, Rc, (1, 1), (3, 63)),
            (FetchAdd, Rc, (1, 1), (3, 63)),
            // An operation that the transport lacks has its count judged all the same.
            (Write, Ud, (0, 63), (2, 63)),
            (FetchAdd, Uc, (1, 1), (3, 63)),
        ] {
            assert_eq!(range(class, t, WqeFormat::Book), book, "{class} on {t}, book");
            assert_eq!(range(class, t, WqeFormat::Mlx5), mlx5, "{class} on {t}, mlx5");
        }
    }

    #[test]
    fn everything_wrong_is_found_at_once() {
        let control =
            ControlSegment { ds: 0, reserved_ds: 1, fence_mode: 5, ..bare(OpClass::Read) };
        let post = PostSend {
            walk_format: true,
            walk_length: true,
            walk_key: true,
            ..of(control, WqeFormat::Book, MAX_MESSAGE + 1)
        };
        let d = decode(&post, Transport::Ud);
        let all_but_opcode = WqeErrors(0x1ff).minus(WqeErrors::BAD_OPCODE);
        assert_eq!(d.errors, all_but_opcode);
        assert_eq!(d.rejected_status(), Some(status::LOC_QP_OP_ERR));
    }

    #[test]
    fn of_an_unknown_opcode_only_the_form_is_known() {
        let control =
            ControlSegment { opcode: 2, fence_mode: 7, reserved_flag: true, ..bare(OpClass::Send) };
        let post = PostSend {
            walk_format: true,
            walk_key: true,
            ..of(control, WqeFormat::Mlx5, u32::MAX)
        };
        let d = decode(&post, Transport::Ud);
        let expected = WqeErrors::BAD_OPCODE
            | WqeErrors::BAD_FENCE
            | WqeErrors::RESERVED
            | WqeErrors::BAD_LENGTH;
        assert_eq!((d.errors, d.class, d.packets), (expected, None, 0));
    }

    #[test]
    fn lengths() {
        let bad = |class, t, len| {
            let control = ControlSegment { ds: 1, ..bare(class) };
            decode(&of(control, WqeFormat::Book, len), t).errors
        };
        let long = WqeErrors::BAD_LENGTH;
        assert_eq!(bad(OpClass::Write, Transport::Rc, MAX_MESSAGE), WqeErrors::EMPTY);
        assert_eq!(bad(OpClass::Write, Transport::Rc, MAX_MESSAGE + 1), long);
        assert_eq!(bad(OpClass::Send, Transport::Ud, 4096), WqeErrors::EMPTY);
        assert_eq!(bad(OpClass::Send, Transport::Ud, 4097), long);
        for len in [0, 7, 9] {
            assert_eq!(bad(OpClass::CompareSwap, Transport::Rc, len), long);
        }
        assert_eq!(bad(OpClass::FetchAdd, Transport::Rc, 8), WqeErrors::EMPTY);
    }

    #[test]
    fn status_of_a_rejected_wqe() {
        let form = [0, 1, 2, 3, 4, 5].map(|bit| WqeErrors(1 << bit));
        for e in form {
            assert_eq!(rejected_status(e | WqeErrors::BAD_LENGTH | WqeErrors::WALK_KEY), Some(2));
        }
        for e in [WqeErrors::BAD_LENGTH, WqeErrors::WALK_LENGTH] {
            assert_eq!(rejected_status(e | WqeErrors::WALK_KEY), Some(1));
        }
        assert_eq!(rejected_status(WqeErrors::WALK_KEY), Some(4));
        assert_eq!(rejected_status(WqeErrors::EMPTY), None);
    }

    /// The inline bit lies in the control segment in one format, in a data segment in the other.
    #[test]
    fn the_inline_request_of_both_formats() {
        let control = ControlSegment { inline: true, ds: 2, ..bare(OpClass::Write) };
        let book = decode(&of(control, WqeFormat::Book, 28), Transport::Rc);
        assert!(book.inline_requested && book.inline_data && book.errors.is_empty());
        let mlx5 = decode(&of(control, WqeFormat::Mlx5, 28), Transport::Rc);
        assert!(!mlx5.inline_requested);
        assert_eq!(mlx5.errors, WqeErrors::RESERVED);
        // What the walker saw counts in mlx5 format alone.
        let control = ControlSegment { inline: false, ..control };
        for (format, seen) in [(WqeFormat::Book, false), (WqeFormat::Mlx5, true)] {
            let post = PostSend { inline: true, ..of(control, format, 28) };
            assert_eq!(decode(&post, Transport::Rc).inline_data, seen);
        }
    }

    #[test]
    fn placement_and_keys() {
        let inline = |class, len| {
            let control = ControlSegment { inline: true, ..bare(class) };
            let post = PostSend { walk_key: true, ..of(control, WqeFormat::Book, len) };
            let d = decode(&post, Transport::Rc);
            (d.inline_data, d.errors)
        };
        assert_eq!(inline(OpClass::Send, 0), (true, WqeErrors::EMPTY));
        assert_eq!(inline(OpClass::Send, 28), (true, WqeErrors::EMPTY));
        assert_eq!(inline(OpClass::Send, 29), (false, WqeErrors::WALK_KEY));
        assert_eq!(inline(OpClass::Read, 8), (false, WqeErrors::WALK_KEY));
        assert_eq!(inline(OpClass::FetchAdd, 8), (false, WqeErrors::WALK_KEY));
    }

    #[test]
    fn modes_of_fence_and_completion() {
        for mode in 0..8 {
            let control = ControlSegment { fence_mode: mode, ..bare(OpClass::Send) };
            let d = decode(&of(control, WqeFormat::Book, 0), Transport::Rc);
            assert_eq!(d.fence, (2..=4).contains(&mode));
            assert_eq!(d.errors.contains(WqeErrors::BAD_FENCE), mode > 4);
        }
        for mode in 0..4 {
            let control = ControlSegment { completion_mode: mode, ..bare(OpClass::Send) };
            let d = decode(&of(control, WqeFormat::Book, 0), Transport::Rc);
            assert_eq!(d.signal, mode >= 2);
        }
    }

    #[test]
    fn se_travels_only_where_a_receive_is_consumed() {
        for class in OpClass::ALL {
            let control = ControlSegment { solicited: true, ..bare(class) };
            let d = decode(&of(control, WqeFormat::Book, 8), Transport::Rc);
            let consumes = class.is_send() || class == OpClass::WriteImm;
            assert!(d.solicit_requested);
            assert_eq!((d.solicited, d.consumes_receive), (consumes, consumes), "{class}");
        }
    }

    #[test]
    fn packets_of_request_and_response() {
        let packets = |class, t, mtu, len| {
            let post = of(bare(class), WqeFormat::Book, len);
            let d = decode_wqe(&post, t, mtu, &Policy::BOOK, &Config::DEFAULT);
            (d.packets, d.response_packets)
        };
        assert_eq!(packets(OpClass::Write, Transport::Rc, 1, 0), (1, 0));
        assert_eq!(packets(OpClass::Write, Transport::Rc, 1, 257), (2, 0));
        assert_eq!(packets(OpClass::Write, Transport::Uc, 5, 8193), (3, 0));
        assert_eq!(packets(OpClass::Read, Transport::Rc, 1, 513), (1, 3));
        assert_eq!(packets(OpClass::Read, Transport::Rc, 1, 0), (1, 1));
        assert_eq!(packets(OpClass::FetchAdd, Transport::Rc, 1, 8), (1, 0));
        assert_eq!(packets(OpClass::Send, Transport::Ud, 1, 4096), (1, 0), "the port's MTU");
    }

    #[test]
    fn sizes_in_both_formats() {
        let sized = |format, ds| {
            let d = decode(
                &of(ControlSegment { ds, ..bare(OpClass::Write) }, format, 0),
                Transport::Rc,
            );
            (d.segments, d.wqe_bytes, d.wqe_blocks)
        };
        assert_eq!(sized(WqeFormat::Book, 0), (0, 32, 1));
        assert_eq!(sized(WqeFormat::Book, 2), (2, 64, 1));
        assert_eq!(sized(WqeFormat::Book, 3), (3, 80, 2));
        assert_eq!(sized(WqeFormat::Mlx5, 4), (2, 64, 1));
        assert_eq!(sized(WqeFormat::Mlx5, 63), (61, 1008, 16));
        assert_eq!(sized(WqeFormat::Mlx5, 0), (0, 0, 0), "malformed, and no wrap");
    }
}
