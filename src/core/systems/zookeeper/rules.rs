//! The rules that the simulated ZooKeeper keeps, each with where it comes from.

use crate::systems::rules::steps;
use crate::systems::{Rule, Rules};

/// Rules of the servers and of the recipe.
pub const RULES: Rules =
    Rules { name: "zookeeper", title: "A ZooKeeper ensemble and its clients", list: LIST };

/// The server that was asked.
const ASKED: &str = "ZooKeeper 3.8.0";

const fn recorded(says: &'static str, steps: &'static [crate::systems::Steps]) -> Rule {
    Rule::recorded(says, ASKED, steps)
}

const LIST: &[Rule] = &[
    recorded(
        "The number behind a sequential name counts the children that the parent ever had, and has ten \
         digits; deletions and failures do not move it, and other children do.",
        &[
            steps("zookeeper-3.8/ephemeral_sequential_names", 6, 18),
            steps("zookeeper-3.8/ephemeral_sequential_names", 22, 26),
        ],
    )
    .under(&["create created", "create2 created"]),
    recorded(
        "The `cversion` that a client sees counts those that came and those that went: it is not the \
         counter behind the names.",
        &[steps("zookeeper-3.8/ephemeral_sequential_names", 9, 14)],
    )
    .under(&["getChildren2 children"]),
    recorded(
        "A parent that was deleted and made anew counts from 0 again.",
        &[steps("zookeeper-3.8/ephemeral_sequential_names", 45, 47)],
    ),
    recorded(
        "Where the next name is taken, a sequential create fails, and goes on failing until another \
         child moves the counter.",
        &[steps("zookeeper-3.8/ephemeral_sequential_names", 29, 35)],
    )
    .under(&["create NodeExists", "create2 NodeExists"]),
    Rule::source(
        "Up to 3.5 the stored counter goes on at −2147483648 after 2147483647, in a name of eleven \
         characters. From 3.6 on a smaller number does not replace a larger one, so that the counter \
         stays, and the next create finds its name taken.",
        "ZooKeeper, DataTree.createNode, releases 3.5.9 and 3.6.0",
    ),
    recorded(
        "A write that fails changes nothing, and takes a number of a transaction; a read takes none.",
        &[steps("zookeeper-3.8/errors", 3, 18), steps("zookeeper-3.8/errors", 28, 35)],
    )
    .under(&[
        "create NoNode", "create2 NoNode", "create BadArguments", "create NoChildrenForEphemerals",
        "delete NoNode", "delete BadVersion", "delete NotEmpty", "delete BadArguments",
        "setData NoNode", "setData BadVersion", "createContainer NodeExists",
        "createContainer NoNode",
    ]),
    recorded(
        "A znode is deleted whichever version it has, or only at the one that is named.",
        &[steps("zookeeper-3.8/errors", 23, 26)],
    )
    .under(&["delete ok"]),
    recorded(
        "Setting a znode’s data counts its version up.",
        &[steps("zookeeper-3.8/errors", 17, 22)],
    )
    .under(&["setData stat", "getData data", "getData NoNode"]),
    recorded(
        "Several changes are one transaction, all or none. In one that fails, what stands before the \
         error says 0, and what stands after it −2.",
        &[steps("zookeeper-3.8/multi_fencing", 6, 13)],
    )
    .under(&["multi results"]),
    recorded(
        "A check of the lock’s znode and a write in one transaction fence each other: a late holder’s \
         write fails with its znode.",
        &[steps("zookeeper-3.8/multi_fencing", 14, 21)],
    ),
    recorded(
        "A session’s time-out is what was asked for, from 2 to 20 ticks.",
        &[steps("zookeeper-3.8/connection_loss_and_resume", 27, 29)],
    )
    .under(&["connect connected"]),
    recorded(
        "A connection that breaks is no session lost: its znodes stay, and it goes on with its number \
         and its password.",
        &[
            steps("zookeeper-3.8/connection_loss_and_resume", 10, 15),
            steps("zookeeper-3.8/connection_loss_and_resume", 24, 26),
        ],
    )
    .under(&["connect connected"]),
    recorded(
        "Whoever shows a wrong password is told that the session is over, and the good connection of \
         that session is closed first. The session itself is unharmed.",
        &[steps("zookeeper-3.8/connection_loss_and_resume", 21, 26)],
    )
    .under(&["connect expired"]),
    recorded(
        "A session of which nothing was heard for its time-out ends at the next tick, and all its znodes \
         go in one transaction; its connection is closed, and its client learns that it is over when it \
         connects again.",
        &[steps("zookeeper-3.8/session_expiry", 10, 18)],
    )
    .under(&["expire", "connect expired", "send close"]),
    Rule::source(
        "Only the leader lets a session expire, by its monotonic clock. It counts from when it heard of \
         the session last, which a follower tells it in the answers to its pings; the end is the \
         first multiple of the tick beyond its time-out.",
        "ZooKeeper, SessionTrackerImpl, ExpiryQueue, LearnerHandler",
    )
    .under(&["expire", "lapse", "send ping", "ping ok"]),
    Rule::source(
        "A new leader gives every session all its time again. The end of a session is a transaction, so \
         that nothing expires without a majority.",
        "ZooKeeper, SessionTrackerImpl, PrepRequestProcessor",
    )
    .under(&["expire"]),
    recorded(
        "The end of a session by its client takes all its znodes in one transaction.",
        &[steps("zookeeper-3.8/close_session", 10, 13)],
    )
    .under(&["closeSession ok", "free", "send close"]),
    recorded(
        "One that wakes after its session’s end finds its connection closed: what it still writes to \
         ZooKeeper is not taken.",
        &[steps("zookeeper-3.8/session_expiry_paused_writer", 10, 12)],
    )
    .under(&["send close"]),
    recorded(
        "A watch fires once; two on one znode are one event. A watch that `exists` sets on what is not \
         there tells of its creation; those of getData and getChildren leave none there.",
        &[
            steps("zookeeper-3.8/watch_semantics", 4, 14),
            steps("zookeeper-3.8/watch_semantics", 16, 29),
        ],
    )
    .under(&[
        "exists stat", "exists NoNode", "send NodeCreated", "send NodeDeleted",
        "send NodeDataChanged", "send NodeChildrenChanged", "wake-up", "watched",
    ]),
    recorded(
        "An event comes before the answer to one’s own change, and before the new state can be read.",
        &[
            steps("zookeeper-3.8/watch_semantics", 31, 34),
            steps("zookeeper-3.8/predecessor_watch", 29, 30),
        ],
    )
    .under(&["send NodeDeleted", "send NodeDataChanged", "send NodeChildrenChanged"]),
    recorded(
        "Watches that stay hear of a znode, or of all below it, until they are taken back.",
        &[steps("zookeeper-3.8/watch_semantics", 36, 49)],
    )
    .under(&["addWatch ok", "removeWatches ok", "removeWatches NoWatcher"]),
    recorded(
        "The server forgets watches with their connection. Set again, they tell at once what has changed \
         since the transaction that the client names.",
        &[steps("zookeeper-3.8/connection_loss_and_resume", 16, 19)],
    )
    .under(&["setWatches ok"]),
    Rule::source(
        "What was made and deleted while no watch was set, nobody is told.",
        "ZooKeeper, DataTree.setWatches",
    )
    .under(&["setWatches ok"]),
    recorded(
        "Whoever watches the znode before its own is woken by that one’s end alone, and looks again: it \
         may have given up.",
        &[steps("zookeeper-3.8/predecessor_watch", 14, 24)],
    )
    .under(&["wake-up", "getChildren children", "getChildren NoNode", "getChildren2 NoNode"]),
    recorded(
        "Where all watch the parent, every release wakes all who wait: n(n−1)/2 for n clients, and n−1 \
         where each watches the one before.",
        &[steps("zookeeper-3.8/herd", 1, 14)],
    )
    .under(&["wake-up"]),
    Rule::document(
        "The znode that was made first holds the lock, and the others wait in the order of their \
         creation; of those that share it, all before the first that does not.",
        "ZooKeeper documentation, Recipes, “Locks” and “Shared Locks”",
    )
    .under(&["grant", "queue", "line", "free"]),
    Rule::inference(
        "Whoever deletes another’s znode ends its hold: the servers know znodes, not locks.",
        "follows from how a delete is checked",
    )
    .under(&["remove", "forget"]),
    Rule::source(
        "A read is answered by the server that was asked, from what it has carried out; it may be old.",
        "ZooKeeper, FollowerRequestProcessor, FinalRequestProcessor",
    )
    .under(&["exists stat", "getChildren children", "getData data"]),
    Rule::source(
        "A sync is answered when the server has carried out all that the leader had proposed when it was \
         asked.",
        "ZooKeeper, Leader.processSync",
    )
    .under(&["sync ok", "send ok"]),
    Rule::source(
        "A server that neither leads nor follows closes its clients’ connections and takes none.",
        "ZooKeeper, QuorumPeer, ZooKeeperServer.shutdown",
    )
    .under(&["send close"]),
    Rule::source(
        "A server turns away whoever has seen a transaction that it does not know yet.",
        "ZooKeeper, ZooKeeperServer.processConnectRequest",
    )
    .under(&["send close"]),
    Rule::source(
        "Changes go to the leader, which proposes them in order; what a majority has logged is decided.",
        "ZooKeeper, PrepRequestProcessor, Leader.tryToCommit; Junqueira, Reed, Serafini, Zab (DSN 2011)",
    )
    .under(&[
        "decide", "send proposal", "send ack", "send commit", "send request", "send request create",
        "send request delete", "send request setData", "send request closeSession",
        "send request connect", "send request sync",
    ]),
    Rule::source(
        "A session that goes on at another server is looked up at the leader, which then takes its \
         writes from nowhere else: on its old connection the first write ends that.",
        "ZooKeeper, Learner.validateSession, SessionTrackerImpl.checkSession",
    )
    .under(&["send revalidate", "send ok", "send expired", "send close"]),
    Rule::source(
        "The server with the largest epoch, then transaction, then number is elected; a new leader agrees \
         on an epoch, brings its followers into sync, and serves when a majority is.",
        "ZooKeeper, FastLeaderElection, Leader.lead, Learner.syncWithLeader",
    )
    .under(&[
        "stand", "send notification", "send followerInfo", "send leaderInfo", "send ackEpoch", "send diff",
        "send trunc", "send newLeader", "send upToDate",
    ]),
    Rule::source(
        "A leader asks its followers twice a tick whether they live. Whoever of the two hears nothing for as \
         many ticks as the limit says gives the other up: until then a follower answers its clients’ \
         pings by itself.",
        "ZooKeeper, Leader.lead, LearnerHandler, Learner",
    )
    .under(&["send ping", "ping ok"]),
    Rule::source(
        "A container that has had children and has none is deleted at the next look, once a minute.",
        "ZooKeeper, ContainerManager",
    )
    .under(&["createContainer created"]),
];
