//! Scenarios whose verdict must not depend on what they are run on.

use rnic_cosim::scenario::{Engine, ModelEngine, Trace, parse, run};

fn on(engine: &str, text: &str) -> Trace {
    let s = parse("scenario.toml", text).unwrap_or_else(|e| panic!("{e}"));
    #[cfg(feature = "rtl")]
    if engine != "model" {
        use rnic_cosim::hw::{HwConfig, Rtl};
        use rnic_cosim::scenario::{BareEngine, LockstepEngine};
        let config = HwConfig::from_name(s.config.name).expect("a configuration");
        let device = Rtl::new(config, 1).expect("it is built");
        let mut engine: Box<dyn Engine> = match engine {
            "rtl" => Box::new(BareEngine::new(device, s.policy).expect("comes up")),
            _ => Box::new(LockstepEngine::new(device, s.config, s.policy).expect("comes up")),
        };
        return run(&s, engine.as_mut());
    }
    assert_eq!(engine, "model");
    let mut engine: Box<dyn Engine> = Box::new(ModelEngine::new(s.config, s.policy));
    run(&s, engine.as_mut())
}

fn holds_everywhere(steps: &str) {
    let text = format!(
        "title = 'one'\n[[cq]]\nname = 'C'\ndepth = 8\n[[qp]]\nname = 'A'\nnumber = 45\nstate = 'RTS'\n{steps}"
    );
    let engines: &[&str] =
        if cfg!(feature = "rtl") { &["model", "rtl", "both"] } else { &["model"] };
    for engine in engines {
        let trace = on(engine, &text);
        assert!(
            trace.passed(),
            "{engine}: {:?} {}",
            trace.defect,
            rnic_cosim::report::steps::steps(&trace, None)
        );
    }
}

#[test]
fn what_is_completed_is_chosen_before_the_first_report() {
    holds_everywhere(
        "[[step]]\n\
         do = [{ post_send = { qp = 'A', count = 2 } }, { complete = { qp = 'A', count = 2, status = 10 } }]\n\
         expect = { outcome = ['ok', 'ok', 'ok', 'stale'], stale = 1 }\n",
    );
}

#[test]
fn the_completed_of_a_group_are_chosen_together() {
    holds_everywhere(
        "[[qp]]\nname = 'G'\ncount = 3\nstate = 'RTS'\n[[step]]\npost_send = { qp = 'G' }\n\
         [[step]]\nfault = { cq = 'C' }\n\
         [[step]]\ncomplete = { qp = 'G' }\nexpect = { outcome = 'any', state = { G = 'ERR' } }\n",
    );
}

/// A closed wire holds back what is released, in the RTL behind its last register.
#[test]
fn a_wire_that_stays_closed_is_no_defect() {
    let post = "[[step]]\nwire = 'off'\n[[step]]\npost_send = { qp = 'A', count = 3 }\n";
    holds_everywhere(post);
    holds_everywhere(&format!(
        "{post}[[step]]\nwire = 'on'\n[[step]]\ncomplete = {{ qp = 'A', count = 3 }}\n"
    ));
}

#[test]
fn a_refused_creation_changes_nothing_that_later_steps_mean() {
    holds_everywhere(
        "[[qp]]\nname = 'B'\nnumber = 1\n\
         [[step]]\ncreate_qp = { name = 'late', number = 1, transport = 'UD', cq = 'C' }\n\
         expect = { outcome = 'qp_exists' }\n\
         [[step]]\nmodify = { qp = 'B', to = 'INIT', attrs = 'required' }\n\
         expect = { state = 'INIT' }\n\
         [[step]]\ndo = [{ modify = { qp = 'B', to = 'RTR', attrs = 'required' } }, \
         { modify = { qp = 'B', to = 'RTS', attrs = 'required' } }]\n\
         [[step]]\npost_send = { qp = 'B' }\nexpect = { issued = 1 }\n",
    );
}

#[test]
fn after_a_reset_nothing_is_told_late() {
    let steps = "[[step]]\nreset = true\nexpect = { state = 'none' }\n\
                 [[step]]\ncreate_cq = { name = 'D', number = 3, depth = 3 }\n";
    holds_everywhere(steps);
    let text = format!(
        "title = 'one'\n[[cq]]\nname = 'C'\ndepth = 8\n[[qp]]\nname = 'A'\nstate = 'RTS'\n{steps}"
    );
    let trace = on("model", &text);
    let last = trace.steps.last().expect("a step");
    assert!(last.happenings.iter().all(|h| h.changes.is_empty()), "{:?}", last.happenings);
}

#[test]
fn attributes_and_numbers_say_whom_they_mean() {
    holds_everywhere(
        "[[qp]]\nname = 'B'\n[[qp]]\nname = 'D'\n\
         [[step]]\ndo = [{ modify = { qp = 'B', to = 'INIT', attrs = 'required', values = { port = 2 } } }, \
         { modify = { qp = 'D', to = 'INIT', attrs = 'required', values = { port = 1 } } }]\n\
         expect = { attr = { B = { port = 2 }, D = { port = 1 } } }\n\
         [[step]]\ndo = [{ query = { qp = 45 } }, { query = { qp = 'B' } }, { query = { cq = 'C' } }]\n\
         expect = { state = { 45 = 'RTS', B = 'INIT' }, occupancy = { 1 = 0 } }\n",
    );
}

#[test]
fn names_are_given_again_and_a_reset_ends_every_qp() {
    let again = "do = [{ create_qp = { name = 'A', state = 'RTS' } }, { post_send = { qp = 'A' } }]\n\
                 expect = { state = { A = 'RTS', 45 = 'RTS' }, issued = { A = '1..1' } }\n";
    let steps = format!(
        "[[step]]\ndestroy = {{ qp = 'A' }}\nexpect = {{ state = 'none' }}\n[[step]]\n{again}\
         [[step]]\nreset = true\nexpect = {{ state = {{ A = 'none' }} }}\n\
         [[step]]\ncreate_cq = {{ name = 'C', depth = 64 }}\n[[step]]\n{again}"
    );
    holds_everywhere(&steps);
}
