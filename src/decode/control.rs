//! The seam to whatever decodes control segments: the golden model, or the RTL beside it.

use serde::Serialize;

use crate::model::{
    Config, Policy, PostSend, Transport, WireHeaders, WqeErrors, WqeFormat, decode_wqe,
};

/// A control segment and what is known of the rest of the WQE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlInput {
    /// The four words in host order.
    pub ctrl: [u32; 4],
    pub format: WqeFormat,
    pub transport: Transport,
    /// `ibv_mtu` number of the QP.
    pub path_mtu: u8,
    /// Payload bytes; `None` if the dump does not hold the data segments.
    pub payload_len: Option<u32>,
    /// An inline data segment follows (mlx5 format).
    pub inline: bool,
}

/// Decodes control segments. Two implementations given the same input must give the same
/// [`Verdict`] but for its `engine`.
pub trait ControlDecoder {
    /// Decodes one WQE.
    fn decode(&self, input: &ControlInput) -> Verdict;
}

/// What a decoder makes of a WQE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Who says so: `model` or `rtl`.
    pub engine: &'static str,
    pub transport: &'static str,
    /// Operation, if it is one of the eight.
    pub class: Option<String>,
    /// Everything that is wrong.
    pub errors: Vec<String>,
    /// Status of the completion if the WQE may not leave (`ibv_wc_status`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_status: Option<u8>,
    pub fence: bool,
    pub signal: bool,
    pub solicit: bool,
    pub inline: bool,
    /// Where the payload is: `inline` in the WQE or fetched by `dma`.
    pub placement: &'static str,
    pub segments: u8,
    pub wqe_bytes: u32,
    /// 64-byte blocks.
    pub wqe_blocks: u32,
    /// Headers on the wire besides BTH.
    pub headers: Vec<String>,
    pub consumes_receive: bool,
    /// BTH SE.
    pub bth_se: bool,
    /// Payload bytes the verdict was made for; absent if unknown, then the packets are too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_packets: Option<u32>,
}

/// The golden model.
#[derive(Clone, Copy, Debug)]
pub struct ModelDecoder {
    pub policy: Policy,
    pub config: Config,
}

impl Default for ModelDecoder {
    fn default() -> Self {
        Self { policy: Policy::BOOK, config: Config::DEFAULT }
    }
}

impl ControlDecoder for ModelDecoder {
    fn decode(&self, input: &ControlInput) -> Verdict {
        // Without the segments an atomic is taken to move its 8 bytes; others have no length
        // that could be wrong.
        let atomic = matches!(input.ctrl[0] as u8, 0x11 | 0x12);
        let assumed = if atomic { 8 } else { 0 };
        let post = PostSend {
            ctrl: input.ctrl,
            format: input.format,
            payload_len: input.payload_len.unwrap_or(assumed),
            inline: input.inline,
            ..PostSend::default()
        };
        let d = decode_wqe(&post, input.transport, input.path_mtu, &self.policy, &self.config);
        let known = input.payload_len.is_some();
        Verdict {
            engine: "model",
            transport: input.transport.name(),
            class: d.class.map(|c| c.to_string()),
            errors: WqeErrors::names(d.errors),
            rejected_status: d.rejected_status(),
            fence: d.fence,
            signal: d.signal,
            solicit: d.solicit_requested,
            inline: d.inline_requested,
            placement: if d.inline_data { "inline" } else { "dma" },
            segments: d.segments,
            wqe_bytes: d.wqe_bytes,
            wqe_blocks: d.wqe_blocks,
            headers: WireHeaders::names(d.headers),
            consumes_receive: d.consumes_receive,
            bth_se: d.solicited,
            length: input.payload_len,
            packets: known.then_some(d.packets),
            response_packets: (known && d.response_packets > 0).then_some(d.response_packets),
        }
    }
}
