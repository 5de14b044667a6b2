//! The driver-visible ABI, as `rnic_abi.h` has it.
//!
//! Records are plain `#[repr(C)]` structs of the header's names; enumerators are constants
//! (`RNIC_QPS_RTS`). The comments are in the header.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
#![allow(clippy::all)]

include!(concat!(env!("OUT_DIR"), "/abi.rs"));

#[cfg(target_endian = "big")]
compile_error!(
    "the records of the bridge are copied as they lie in memory: little-endian hosts only"
);

/// Sizes that the packed structs of the RTL package have too, in bytes.
const _: () = {
    assert!(size_of::<rnic_wqe_ctrl>() == 16);
    assert!(size_of::<rnic_cqe>() == 20);
    assert!(size_of::<rnic_policy>() == 16);
    assert!(size_of::<rnic_cmd>() == 116);
    assert!(size_of::<rnic_post>() == 32);
    assert!(size_of::<rnic_wire>() == 28);
    assert!(size_of::<rnic_wqe>() == 16);
    assert!(size_of::<rnic_fetch>() == 12);
    assert!(size_of::<rnic_unit>() == 16);
    assert!(size_of::<rnic_region>() == 24);
    assert!(size_of::<rnic_cqdb>() == 16);
    assert!(size_of::<rnic_rsp>() == 156);
    assert!(size_of::<rnic_issue>() == 32);
    assert!(size_of::<rnic_cqe_write>() == 28);
    assert!(size_of::<rnic_event>() == 12);
    assert!(size_of::<rnic_retire>() == 24);
};

macro_rules! shared_with_cxx {
    ($($record:ident),+ $(,)?) => {$(
        // SAFETY: a C struct of plain integers, bound from the very header that the C++ side
        // includes; bindgen's layout checks hold at compile time.
        unsafe impl cxx::ExternType for $record {
            type Id = cxx::type_id!($record);
            type Kind = cxx::kind::Trivial;
        }
    )+};
}

shared_with_cxx!(rnic_policy, rnic_stim, rnic_resp);
