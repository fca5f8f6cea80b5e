// The build tracks and their acceptance tests, in the order of the text.
import type { Requirement } from './requirement.ts';

export const TRACKS = [
  {
    id: 'T-A1',
    state: 'done',
    text: 'The stdio adapter turns MCP lines into calls and decisions into answers.',
  },
  {
    id: 'T-A1.1',
    state: 'done',
    text: 'JSON-RPC over MCP stdio is parsed correctly.',
  },
  {
    id: 'T-A1.2',
    state: 'done',
    text: 'Server, tool and arguments are taken from each `tools/call`.',
  },
  {
    id: 'T-A1.3',
    state: 'done',
    text: 'A blocked call is answered by a well-formed JSON-RPC error.',
  },
  {
    id: 'T-A1.4',
    state: 'done',
    text: 'SIGINT, SIGTERM and end of input are handled for the server process too.',
  },
  {
    id: 'T-A1.5',
    state: 'done',
    text: 'Signals reach the server, and everything exits without leaving a zombie.',
  },
  {
    id: 'T-A2',
    state: 'planned',
    text: 'Enforcement is one core that every adapter shares.',
  },
  {
    id: 'T-A2.1',
    state: 'done',
    text: 'An abstract call goes in, policy is applied, a decision comes out.',
  },
  {
    id: 'T-A2.2',
    state: 'done',
    text: 'The core knows no protocol: a made-up adapter can drive it.',
  },
  {
    id: 'T-A2.3',
    state: 'planned',
    text: 'Events are the same whatever the transport.',
  },
  {
    id: 'T-A2.4',
    state: 'done',
    text: 'A very large payload uses bounded memory and gets a truncated preview.',
  },
  {
    id: 'T-A2.5',
    state: 'done',
    text: 'The same bundle and call always give the same allow or deny.',
  },
  {
    id: 'T-B',
    state: 'done',
    text: 'The policy engine is a pure module with published test vectors.',
  },
  {
    id: 'T-B.1',
    state: 'done',
    text: 'The token bucket empties, refills and limits as configured.',
  },
  {
    id: 'T-B.2',
    state: 'done',
    text: 'Budgets per run and per tool count down correctly.',
  },
  {
    id: 'T-B.3',
    state: 'done',
    text: 'Breakers trip on repeated calls and on errors within their windows.',
  },
  {
    id: 'T-B.4',
    state: 'done',
    text: 'The dedupe window stops a repeated write-like call.',
  },
  {
    id: 'T-B.5',
    state: 'done',
    text: 'Each decision comes with a trace that explains it.',
  },
  {
    id: 'T-C',
    state: 'done',
    text: '`sub ledgerd` keeps a durable ledger that can be queried.',
  },
  {
    id: 'T-C.1',
    state: 'done',
    text: '10,000 events are taken in without loss or corruption.',
  },
  {
    id: 'T-C.2',
    state: 'done',
    text: 'Calls can be found by run, by tool and by decision.',
  },
  {
    id: 'T-C.3',
    state: 'done',
    text: 'The store uses a write-ahead log and takes several writers safely.',
  },
  {
    id: 'T-C.4',
    state: 'done',
    text: 'Pressure on the ledger never blocks a shim; previews are dropped first, decisions never.',
  },
  {
    id: 'T-D',
    state: 'planned',
    text: '`sub import` and `sub restore` work for Claude and Codex.',
  },
  {
    id: 'T-D.1',
    state: 'planned',
    text: "Import rewrites the config and keeps every server's name.",
  },
  {
    id: 'T-D.2',
    state: 'planned',
    text: 'Import makes a backup, and restore brings back the exact bytes.',
  },
  {
    id: 'T-D.3',
    state: 'planned',
    text: 'From import to the first recorded call, the whole path works.',
  },
  {
    id: 'T-E',
    state: 'done',
    text: 'An operator follows and searches runs from the command line.',
  },
  {
    id: 'T-E.1',
    state: 'done',
    text: '`sub run` sets the run id and the identity variables.',
  },
  {
    id: 'T-E.2',
    state: 'done',
    text: '`sub tail` shows events as they happen.',
  },
  {
    id: 'T-E.3',
    state: 'done',
    text: '`sub query` filters by decision, status, tool and server, quickly.',
  },
  {
    id: 'T-F',
    state: 'planned',
    text: 'Secrets are stored by `sub secrets` and injected where they are bound.',
  },
  {
    id: 'T-F.1',
    state: 'done',
    text: "Injected variables reach the server and never the agent's logs.",
  },
  {
    id: 'T-F.2',
    state: 'done',
    text: 'No secret is ever written into a ledger preview.',
  },
  {
    id: 'T-F.3',
    state: 'planned',
    text: 'How a stand-in credential serves tools that need headers is documented.',
  },
  {
    id: 'T-G',
    state: 'done',
    text: 'The web UI replays runs and shows each call.',
  },
  {
    id: 'T-G.1',
    state: 'planned',
    text: '10,000 events scroll smoothly.',
  },
  {
    id: 'T-G.2',
    state: 'done',
    text: 'A truncated preview is plainly shown as truncated.',
  },
  {
    id: 'T-G.3',
    state: 'done',
    text: 'Decision, rule and hint are visible for a call.',
  },
  {
    id: 'T-H',
    state: 'planned',
    text: 'Many headless runs at once work in CI and in containers.',
  },
  {
    id: 'T-H.1',
    state: 'done',
    text: 'Fifty runs and more go on at once under guardrails.',
  },
  {
    id: 'T-H.2',
    state: 'done',
    text: 'Each run leaves a trace bundle to keep as a CI artifact.',
  },
  {
    id: 'T-H.3',
    state: 'done',
    text: 'In strict mode a violation fails the job.',
  },
  {
    id: 'T-I',
    state: 'done',
    text: 'A deterministic harness puts the product under torture.',
  },
  {
    id: 'T-I.1',
    state: 'done',
    text: 'Large payloads stream through under test.',
  },
  {
    id: 'T-I.2',
    state: 'done',
    text: 'Signals are shown to spread to every process.',
  },
  {
    id: 'T-I.3',
    state: 'done',
    text: 'After a crash of any part the product recovers.',
  },
  {
    id: 'T-I.4',
    state: 'done',
    text: 'An agent that loops is detected.',
  },
  {
    id: 'T-I.5',
    state: 'done',
    text: 'Logs and ledger are searched for leaked secrets, and none is found.',
  },
] as const satisfies readonly Requirement[];
