// The model gateway and its local proxy.
import type { Requirement } from './requirement.ts';

export const GATEWAY = [
  {
    id: 'R-1',
    state: 'planned',
    text: 'The workspace builds from a fresh clone with one command and packs into a minimal container image.',
  },
  {
    id: 'R-2',
    state: 'planned',
    text: 'One compose file brings up the gateway and its database for local work.',
  },
  {
    id: 'R-3',
    state: 'done',
    text: 'The gateway brings its database to the current schema at start, in numbered migrations.',
  },
  {
    id: 'R-4',
    state: 'done',
    text: 'Audit, cost, routing, approval, budget and raw records have tables whose constraints keep them sound.',
  },
  {
    id: 'R-5',
    state: 'done',
    text: 'A pool member that names no registered endpoint stops the start and the reload.',
  },
  {
    id: 'R-6',
    state: 'done',
    text: 'The shipped model policy routes or allows every kind of task and is valid as it stands.',
  },
  {
    id: 'R-7',
    state: 'done',
    text: 'The price table covers the main hosted models and one local endpoint.',
  },
  {
    id: 'R-8',
    state: 'done',
    text: 'One forward endpoint takes the envelope and the original body and runs every stage in order.',
  },
  {
    id: 'R-9',
    state: 'done',
    text: 'API keys are kept as hashes, roles are enforced, and a one-time token makes the first admin.',
  },
  {
    id: 'R-10',
    state: 'done',
    text: 'A repo binding counts only with a valid ed25519 signature and from the machine it was made for.',
  },
  {
    id: 'R-11',
    state: 'done',
    text: 'The gateway classifies each turn itself; what the client claims is only a hint.',
  },
  {
    id: 'R-12',
    state: 'done',
    text: 'CEL rules merge into one action with modifiers and side effects; a bad reload keeps the old rules.',
  },
  {
    id: 'R-13',
    state: 'done',
    text: 'The choice within a pool is weighted, seeded and recorded, so that it can be repeated.',
  },
  {
    id: 'R-14',
    state: 'done',
    text: 'Providers sit behind one adapter interface; Anthropic and OpenAI-compatible ones exist.',
  },
  {
    id: 'R-15',
    state: 'done',
    text: 'A stream passes through and ends with `aicg.usage`; a plain answer has its cost in a header.',
  },
  {
    id: 'R-16',
    state: 'done',
    text: 'Spending is reserved, then committed or released, and forgotten reservations are settled.',
  },
  {
    id: 'R-17',
    state: 'done',
    text: 'The local proxy is one process that serves the model wire and its own `_aicg` pages.',
  },
  {
    id: 'R-18',
    state: 'done',
    text: 'From the command line one can log in, start, see status, bind a repo, run checks and print the environment.',
  },
  {
    id: 'R-19',
    state: 'done',
    text: 'Turns are tagged from paths, languages and diff sizes, and file contents are not sent.',
  },
  {
    id: 'R-20',
    state: 'done',
    text: 'The proxy retries within a budget and only before the first token; mutual TLS is optional.',
  },
  {
    id: 'R-21',
    state: 'done',
    text: 'The proxy keeps `aicg.usage` from the agent and records it in a local ledger.',
  },
  {
    id: 'R-22',
    state: 'done',
    text: 'A simulated coding client streams an edit end to end, and cost, seed, audit, status and replay agree.',
  },
  {
    id: 'R-P1.1',
    state: 'done',
    text: 'The OpenAI wires are served beside the Anthropic one, and turns cross from each wire to each.',
  },
  {
    id: 'R-P1.2',
    state: 'done',
    text: 'A turn falls back along a chain of endpoints, and a breaker keeps failing ones out.',
  },
  {
    id: 'R-P1.3',
    state: 'done',
    text: 'A hard cap refuses turns or asks for an approval, and holds exactly under concurrency.',
  },
  {
    id: 'R-P1.4',
    state: 'planned',
    text: 'Costs use hypertables and continuous aggregates where TimescaleDB is there.',
  },
  {
    id: 'R-P1.5',
    state: 'done',
    text: 'Requests are searched for secrets, and rules block or redact what is found.',
  },
  {
    id: 'R-P1.6',
    state: 'done',
    text: 'A rule can hold a turn for an approval, which waits in a queue and is told by webhook.',
  },
  {
    id: 'R-P1.7',
    state: 'done',
    text: 'A page shows costs, recent routing and the approvals that wait.',
  },
  {
    id: 'R-P1.8',
    state: 'done',
    text: 'Webhooks are signed, tried again, and go to allowed hosts alone.',
  },
] as const satisfies readonly Requirement[];
