//! Two decoders of control segments beside each other: a difference must be seen.

use rnic_cosim::decode::{
    Compared, ControlDecoder, ControlInput, Difference, ModelDecoder, Verdict,
};
use rnic_cosim::model::{Transport, WqeErrors, WqeFormat};

/// The model with one field of its verdict bent.
struct Bent(fn(&mut Verdict));

impl ControlDecoder for Bent {
    fn decode(&self, input: &ControlInput) -> Result<Verdict, String> {
        let mut verdict = Verdict { engine: "rtl", ..ModelDecoder::default().decode(input)? };
        self.0(&mut verdict);
        Ok(verdict)
    }
}

fn compare(bend: fn(&mut Verdict)) -> Verdict {
    let input = ControlInput {
        // RDMA_WRITE, ds 3, signaled.
        ctrl: [8, 3, 8, 0],
        format: WqeFormat::Mlx5,
        transport: Transport::Rc,
        path_mtu: 3,
        payload_len: Some(100),
        inline: false,
        walk_errors: WqeErrors::EMPTY,
    };
    Compared(ModelDecoder::default(), Bent(bend)).decode(&input).expect("both decode")
}

#[test]
fn a_difference_names_its_field() {
    let same = compare(|_| {});
    assert_eq!((same.engine, same.differences.len()), ("rtl+model", 0));
    let bent = compare(|v| v.segments = Some(2));
    let values = [("model", "1".to_owned()), ("rtl", "2".to_owned())];
    assert_eq!(bent.differences, [Difference { field: "segments".into(), values }]);
    assert_eq!(bent.segments, Some(1), "the model's verdict");
    let bent = compare(|v| {
        v.packets = None;
        v.errors.push("BAD_DS".into());
    });
    let fields: Vec<&str> = bent.differences.iter().map(|d| d.field.as_str()).collect();
    assert_eq!(fields, ["errors", "packets"]);
    assert_eq!(bent.differences[1].values[1], ("rtl", "absent".to_owned()));
}
