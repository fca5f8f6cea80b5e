// The product as a whole: commands, data plane, identity, policy, ledger, UI and import.
import type { Requirement } from './requirement.ts';

export const PRODUCT = [
  {
    id: 'SL-6',
    state: 'planned',
    text: 'One binary, `sub`, is the entrance to everything, with a subcommand per task.',
  },
  {
    id: 'SL-6-first',
    state: 'done',
    text: 'Import, restore, run, tail, query, ledgerd, version and doctor exist.',
  },
  {
    id: 'SL-6-next',
    state: 'planned',
    text: 'Policy, secrets and export commands exist.',
  },
  {
    id: 'SL-7.1',
    state: 'done',
    text: 'A shim speaks MCP both ways, decides, injects, emits, ends cleanly and never buffers without bound.',
  },
  {
    id: 'SL-7.2',
    state: 'done',
    text: 'Tools and servers keep the names that they had without the shim.',
  },
  {
    id: 'SL-7.3',
    state: 'done',
    text: 'Buckets, budgets, windows and dedupe live in bounded local state; no call waits for a database.',
  },
  {
    id: 'SL-7.4',
    state: 'done',
    text: 'The server gets the real secrets, the agent never does, and no log shows them.',
  },
  {
    id: 'SL-7.5',
    state: 'done',
    text: 'Signals, end of input and a dead parent all end shim and server, leaving no process behind.',
  },
  {
    id: 'SL-7.6',
    state: 'done',
    text: 'Large messages are forwarded raw and recorded by size and rolling hash, never held whole.',
  },
  {
    id: 'SL-7.7',
    state: 'planned',
    text: 'Protocols live in adapters, enforcement in a core that knows none of them.',
  },
  {
    id: 'SL-8.1',
    state: 'done',
    text: 'Every run and call carries agent, run, principal, environment and workload.',
  },
  {
    id: 'SL-8.2',
    state: 'done',
    text: 'Identity comes from `sub run` on a desktop, the runner in CI and the pod in Kubernetes.',
  },
  {
    id: 'SL-8.3',
    state: 'done',
    text: 'Policies select by environment, agent, server and tool, risk class and workload labels.',
  },
  {
    id: 'SL-9.1',
    state: 'done',
    text: 'Observe only records, guardrails enforce and ask nobody, control hints at denials and asks people.',
  },
  {
    id: 'SL-9.2',
    state: 'done',
    text: 'Access, budgets, rates, breakers and dedupe windows can be written as rules.',
  },
  {
    id: 'SL-9.3',
    state: 'done',
    text: 'The engine gives one of five decisions: allow, block, throttle, hint or end the run.',
  },
  {
    id: 'SL-9.4',
    state: 'done',
    text: '`sub policy diff` tells what changed and how severe it is, for people and as JSON.',
  },
  {
    id: 'SL-10.1',
    state: 'done',
    text: 'A refusal gives the agent what it needs to recover and go on.',
  },
  {
    id: 'SL-10.2',
    state: 'done',
    text: 'A hint is answered at once with rule, reason, text, corrected arguments and retry advice.',
  },
  {
    id: 'SL-10.3',
    state: 'done',
    text: 'An operator can turn a hint into a rule for the session or into a reviewed policy change.',
  },
  {
    id: 'SL-11.1',
    state: 'done',
    text: 'The local ledger is append-only, durable and searchable, and takes several shims at once.',
  },
  {
    id: 'SL-11.2',
    state: 'done',
    text: "The ledger is a SQLite file in WAL mode under the product's home folder.",
  },
  {
    id: 'SL-11.3',
    state: 'done',
    text: 'Runs, calls, previews, hints and policy versions have tables, with indexes for common questions.',
  },
  {
    id: 'SL-11.4',
    state: 'done',
    text: 'Events arrive by socket, localhost HTTP or JSON Lines; in a burst previews go before decisions.',
  },
  {
    id: 'SL-12',
    state: 'done',
    text: 'A UI shows the live stream, runs, timelines, calls and filters, and nothing depends on it.',
  },
  {
    id: 'SL-13',
    state: 'done',
    text: "Import finds, backs up and rewrites a client's servers under their names and says how to go back.",
  },
  {
    id: 'SL-14',
    state: 'planned',
    text: 'The docs say that only calls through a shim are governed, and how to close the way around it.',
  },
] as const satisfies readonly Requirement[];
