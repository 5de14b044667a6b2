//! The seam to whatever decodes control segments: the golden model, or the RTL beside it.

use serde::Serialize;

use crate::model::{
    Config, OpClass, Policy, PostSend, Transport, WireHeaders, WqeErrors, WqeFormat, decode_wqe,
};

/// A control segment and what is known of the rest of the WQE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlInput {
    /// The four words in host order.
    pub ctrl: [u32; 4],
    /// Layout of the WQE.
    pub format: WqeFormat,
    /// Transport of the QP.
    pub transport: Transport,
    /// `ibv_mtu` number of the QP.
    pub path_mtu: u8,
    /// Payload bytes; `None` if the dump does not hold the data segments.
    pub payload_len: Option<u32>,
    /// An inline data segment follows (mlx5 format).
    pub inline: bool,
    /// What a walk over the data segments found; keys are not known here.
    pub walk_errors: WqeErrors,
}

impl ControlInput {
    /// The POST_SEND that stands for this WQE.
    pub fn post_send(&self) -> PostSend {
        // Without the segments an atomic is taken to move its 8 bytes; others have no length
        // that could be wrong.
        let atomic = OpClass::from_mlx5(self.ctrl[0] as u8).is_some_and(OpClass::is_atomic);
        PostSend {
            ctrl: self.ctrl,
            format: self.format,
            payload_len: self.payload_len.unwrap_or(if atomic { 8 } else { 0 }),
            inline: self.inline,
            walk_format: self.walk_errors.contains(WqeErrors::WALK_FORMAT),
            walk_length: self.walk_errors.contains(WqeErrors::WALK_LENGTH),
            ..PostSend::default()
        }
    }
}

/// Decodes control segments. Two implementations given the same input must give the same
/// [`Verdict`] but for its `engine`.
pub trait ControlDecoder {
    /// Decodes one WQE.
    ///
    /// # Errors
    /// A message, if the decoder itself fails. Every input has a verdict.
    fn decode(&self, input: &ControlInput) -> Result<Verdict, String>;
}

/// Two decoders at once: the verdict of the first, held against the second's.
pub struct Compared<A, B>(pub A, pub B);

impl<A: ControlDecoder, B: ControlDecoder> ControlDecoder for Compared<A, B> {
    fn decode(&self, input: &ControlInput) -> Result<Verdict, String> {
        let first = self.0.decode(input)?;
        let second = self.1.decode(input)?;
        let mut differences = differences(&first, &second);
        differences.extend(first.differences);
        let engine = match (first.engine, second.engine) {
            ("model", "rtl") => "rtl+model",
            (one, _) => one,
        };
        Ok(Verdict { engine, differences, ..first })
    }
}

/// Fields of the same name with different values.
fn differences(a: &Verdict, b: &Verdict) -> Vec<Difference> {
    let fields = |v: &Verdict| match serde_json::to_value(v) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (of_a, of_b) = (fields(a), fields(b));
    let names: std::collections::BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
    let text = |value: Option<&serde_json::Value>| {
        value.map_or_else(|| "absent".to_owned(), ToString::to_string)
    };
    names
        .into_iter()
        .filter(|name| *name != "engine" && of_a.get(*name) != of_b.get(*name))
        .map(|name| Difference {
            field: name.clone(),
            values: [(a.engine, of_a.get(name)), (b.engine, of_b.get(name))]
                .map(|(engine, value)| (engine, text(value))),
        })
        .collect()
}

/// A field on which two decoders do not agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the field.
    pub field: String,
    /// Engine and what it says.
    pub values: [(&'static str, String); 2],
}

/// What a decoder makes of a WQE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Who says so: `model`, `rtl`, or `rtl+model`, which were compared.
    pub engine: &'static str,
    /// Transport of the QP.
    pub transport: &'static str,
    /// Operation, if it is one of the eight.
    pub class: Option<String>,
    /// Everything that is wrong.
    pub errors: Vec<String>,
    /// Status of the completion if the WQE may not leave (`ibv_wc_status`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_status: Option<u8>,
    /// Fence asked for.
    pub fence: bool,
    /// CQE asked for.
    pub signal: bool,
    /// Solicited event asked for.
    pub solicit: bool,
    /// Payload lies in the WQE.
    pub inline: bool,
    /// Where the payload is: `inline` in the WQE or fetched by `dma`.
    pub placement: &'static str,
    /// Data segments of 16 bytes; absent if the dump does not hold the WQE that `ds` announces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u8>,
    /// Bytes of the WQE.
    pub wqe_bytes: u32,
    /// 64-byte blocks.
    pub wqe_blocks: u32,
    /// Headers on the wire besides BTH.
    pub headers: Vec<String>,
    /// It takes a receive at the far end.
    pub consumes_receive: bool,
    /// BTH SE.
    pub bth_se: bool,
    /// Payload bytes the verdict was made for; absent if unknown, then the packets are too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
    /// Request packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u32>,
    /// Response packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_packets: Option<u32>,
    /// Where two engines do not agree.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// The golden model.
#[derive(Clone, Copy, Debug)]
pub struct ModelDecoder {
    /// The choices made.
    pub policy: Policy,
    /// Sizes of the hardware.
    pub config: Config,
}

impl Default for ModelDecoder {
    fn default() -> Self {
        Self { policy: Policy::BOOK, config: Config::DEFAULT }
    }
}

impl ControlDecoder for ModelDecoder {
    fn decode(&self, input: &ControlInput) -> Result<Verdict, String> {
        let post = input.post_send();
        let d = decode_wqe(&post, input.transport, input.path_mtu, &self.policy, &self.config);
        let known = input.payload_len.is_some();
        Ok(Verdict {
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
            segments: Some(d.segments),
            wqe_bytes: d.wqe_bytes,
            wqe_blocks: d.wqe_blocks,
            headers: WireHeaders::names(d.headers),
            consumes_receive: d.consumes_receive,
            bth_se: d.solicited,
            length: input.payload_len,
            packets: known.then_some(d.packets),
            response_packets: (known && d.response_packets > 0).then_some(d.response_packets),
            differences: Vec::new(),
        })
    }
}
