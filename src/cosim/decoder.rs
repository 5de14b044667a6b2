//! The RTL's decoder of send WQEs, for dumps.

use std::cell::RefCell;

use crate::decode::{ControlDecoder, ControlInput, Verdict};
use crate::hw::{BlockBench, DutError};
use crate::model::{
    OpClass, Policy, PostSend, Transport, WireHeaders, WqeErrors, WqeFormat, rejected_status,
};

/// Words of a question and of an answer (testbench/rtl/decoder_bench.sv).
const STIM: usize = 7;
const RESP: usize = 10;
/// Clocks from the one to the other.
const LATENCY: usize = 2;

/// `wqe_ctrl_decoder` on its bench.
pub struct RtlDecoder {
    bench: RefCell<BlockBench>,
    policy: Policy,
}

impl RtlDecoder {
    /// Powers it up.
    ///
    /// # Errors
    /// If this program was built without the bench.
    pub fn new(policy: Policy) -> Result<Self, DutError> {
        let bench = BlockBench::new("decoder_bench", 1)?;
        let found = (bench.stim_words(), bench.resp_words());
        if found != (STIM, RESP) {
            let text = format!("decoder_bench has {found:?} words, not {:?}", (STIM, RESP));
            return Err(DutError::Assertion { clock: 0, text });
        }
        Ok(Self { bench: RefCell::new(bench), policy })
    }
}

/// A question as the bench takes it.
pub fn decoder_question(
    post: &PostSend,
    transport: Transport,
    path_mtu: u8,
    max_inline: u32,
) -> [u32; STIM] {
    let bit = |set: bool, n: u32| u32::from(set) << n;
    let flags = bit(post.format == WqeFormat::Mlx5, 0)
        | bit(post.inline, 1)
        | bit(post.walk_format, 2)
        | bit(post.walk_length, 3)
        | bit(post.walk_key, 4)
        | u32::from(transport.number()) << 8
        | u32::from(path_mtu) << 10;
    let [c0, c1, c2, c3] = post.ctrl;
    [c0, c1, c2, c3, post.payload_len, max_inline, flags]
}

impl ControlDecoder for RtlDecoder {
    fn decode(&self, input: &ControlInput) -> Result<Verdict, String> {
        let post = input.post_send();
        let stim = decoder_question(&post, input.transport, input.path_mtu, self.policy.max_inline);
        let mut resp = Vec::new();
        let mut bench = self.bench.borrow_mut();
        bench.run_pipelined(&stim, &mut resp, LATENCY).map_err(|e| e.to_string())?;
        let &[names, bits, segments, _, packets, response, _, wqe_bytes, wqe_blocks, _] = &resp[..]
        else {
            return Err(format!("decoder_bench answered {} words, not {RESP}", resp.len()));
        };
        let is = |n: u32| bits >> n & 1 == 1;
        let errors = WqeErrors((bits & 0x1ff) as u16);
        let known = input.payload_len.is_some();
        // The opcode's name is the same table's for both; that it is known is the RTL's word.
        let class = is(14).then(|| {
            let opcode = (names >> 24) as u8;
            OpClass::from_mlx5(opcode)
                .map_or_else(|| format!("opcode {opcode}"), |class| class.to_string())
        });
        Ok(Verdict {
            engine: "rtl",
            transport: input.transport.name(),
            class,
            errors: errors.names(),
            rejected_status: rejected_status(errors),
            fence: is(10),
            signal: is(11),
            solicit: is(15),
            inline: is(16),
            placement: if is(13) { "inline" } else { "dma" },
            segments: Some(segments as u8),
            wqe_bytes,
            wqe_blocks,
            headers: WireHeaders((bits >> 20 & 0xf) as u8).names(),
            consumes_receive: is(17),
            bth_se: is(12),
            length: input.payload_len,
            packets: known.then_some(packets),
            response_packets: (known && response > 0).then_some(response),
            differences: Vec::new(),
        })
    }
}
