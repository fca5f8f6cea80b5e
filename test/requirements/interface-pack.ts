// Contracts A, B and C, section by section.
import type { Requirement } from './requirement.ts';

export const INTERFACE_PACK = [
  {
    id: 'IP-0.1',
    state: 'done',
    text: 'The contracts follow semantic versioning: only a major version may break a reader.',
  },
  {
    id: 'IP-0.2',
    state: 'done',
    text: 'Readers ignore unknown fields, an unknown rule kind is an error, and every optional field has a default.',
  },
  {
    id: 'IP-0.3',
    state: 'done',
    text: 'Ids are case-sensitive; a run id is unique everywhere and sorts by time, a call id is unique in its run.',
  },
  {
    id: 'IP-1.1',
    state: 'done',
    text: 'Events travel as JSON Lines: one UTF-8 object per line, ended by a newline.',
  },
  {
    id: 'IP-1.2',
    state: 'done',
    text: 'The five required event types are emitted, and the optional ones have fixed names.',
  },
  {
    id: 'IP-1.3',
    state: 'done',
    text: 'Each event carries version, type, UTC time, run, agent, client, environment and source.',
  },
  {
    id: 'IP-1.3.1',
    state: 'done',
    text: 'Events say who started the run and where it runs, and a reader does without either.',
  },
  {
    id: 'IP-1.4',
    state: 'done',
    text: '`run_start` names when the run began, its mode and its policy by id, version and hash.',
  },
  {
    id: 'IP-1.5',
    state: 'done',
    text: "`tool_call_start` has the call's ids, names, transport, hash, size, preview and place in the run.",
  },
  {
    id: 'IP-1.6',
    state: 'done',
    text: '`tool_call_decision` has action, rule, severity, reason and policy, and what its action needs besides.',
  },
  {
    id: 'IP-1.7',
    state: 'done',
    text: '`tool_call_end` has status, latency, size and preview, and on failure an error without secrets.',
  },
  {
    id: 'IP-1.8',
    state: 'done',
    text: '`run_end` has the final status and totals of calls, blocks, throttles, errors and time.',
  },
  {
    id: 'IP-1.9',
    state: 'done',
    text: 'Hashes follow one strict canonical form, the same in every producer and reader.',
  },
  {
    id: 'IP-1.9.1',
    state: 'done',
    text: '`args_hash` is the lowercase hex SHA-256 of the arguments as canonical JSON.',
  },
  {
    id: 'IP-1.9.2',
    state: 'done',
    text: 'A payload too large to inspect gets a rolling SHA-256 of its raw bytes.',
  },
  {
    id: 'IP-1.10',
    state: 'done',
    text: 'Messages above 1 MiB pass whole with a truncated preview; previews hold at most 16 KiB.',
  },
  {
    id: 'IP-2.1',
    state: 'done',
    text: 'A bundle has id, version, mode, defaults, selectors and rules; a missing one is an error.',
  },
  {
    id: 'IP-2.2',
    state: 'done',
    text: 'Selectors compare with the identity: values of a field are alternatives, fields add up, absent fits all.',
  },
  {
    id: 'IP-2.3',
    state: 'done',
    text: 'Rules run from top to bottom, the first decisive one wins, and accumulators always count.',
  },
  {
    id: 'IP-2.4',
    state: 'done',
    text: 'A rule matches on server, tool, risk class, simple argument predicates and time, all cheap to test.',
  },
  {
    id: 'IP-2.5',
    state: 'done',
    text: 'Each rule kind has an effect of its own shape, and a wrong shape is an error.',
  },
  {
    id: 'IP-2.5-allow-deny',
    state: 'done',
    text: '`allow` and `deny` decide with an action, a stable reason code and a message.',
  },
  {
    id: 'IP-2.5-budget',
    state: 'done',
    text: '`budget` counts calls or cost by scope and acts as told once the limit is passed.',
  },
  {
    id: 'IP-2.5-rate_limit',
    state: 'done',
    text: '`rate_limit` spends tokens from a refilling bucket and throttles, blocks or hints when it is empty.',
  },
  {
    id: 'IP-2.5-breaker',
    state: 'done',
    text: '`breaker` trips on errors or on repeats within a window, then blocks, hints or ends the run.',
  },
  {
    id: 'IP-2.5-dedupe',
    state: 'done',
    text: '`dedupe` stops the same call, by `args_hash`, within its window.',
  },
  {
    id: 'IP-2.5-tag',
    state: 'done',
    text: '`tag` adds risk classes to a call, which later rules can match.',
  },
  {
    id: 'IP-2.6',
    state: 'done',
    text: 'A snapshot has id, version, hash, compiled matchers and all defaults, and reloads without a restart.',
  },
  {
    id: 'IP-3.1',
    state: 'done',
    text: 'A decision always has action, rule, severity, reason code and summary, and extras by action.',
  },
  {
    id: 'IP-3.2',
    state: 'done',
    text: 'A refused call is answered at once, always in the same machine-readable form.',
  },
  {
    id: 'IP-3.2.1',
    state: 'done',
    text: 'A refusal is a JSON-RPC error with a reserved code, a short message and structured data.',
  },
  {
    id: 'IP-3.2.2',
    state: 'done',
    text: '`error.data.subluminal` names version, action, rule, reason, run, call, tool, hash and policy.',
  },
  {
    id: 'IP-3.2.3',
    state: 'done',
    text: 'A throttled call is told how long to wait.',
  },
  {
    id: 'IP-3.2.4',
    state: 'done',
    text: 'A hinted call gets text, corrected arguments or null, retry advice and the kind of hint.',
  },
  {
    id: 'IP-3.3',
    state: 'done',
    text: 'Each hint given is also recorded as a `hint_issued` event.',
  },
  {
    id: 'IP-4.1',
    state: 'done',
    text: 'Secrets are bound per server and injected at spawn; only metadata about them is ever recorded.',
  },
  {
    id: 'IP-5',
    state: 'done',
    text: '`sub run` sets the SUB_* identity variables, and shims stamp them on every event.',
  },
  {
    id: 'IP-6.1',
    state: 'done',
    text: 'The order of keys in the arguments never changes `args_hash`.',
  },
  {
    id: 'IP-6.2',
    state: 'done',
    text: 'A payload above the inspection limit arrives intact, is marked truncated and uses bounded memory.',
  },
  {
    id: 'IP-6.3',
    state: 'done',
    text: 'Killing the agent ends the shim and its server within the grace period.',
  },
  {
    id: 'IP-6.4',
    state: 'done',
    text: 'Injected secrets appear in no preview, error message or ledger field.',
  },
  {
    id: 'IP-7.1',
    state: 'done',
    text: 'An adapter hands the core server, tool, arguments, size and transport, and obeys the decision.',
  },
  {
    id: 'IP-7.2',
    state: 'done',
    text: 'Adapters parse, answer, forward and supervise; the core decides, counts, injects and emits.',
  },
  {
    id: 'IP-7.3',
    state: 'done',
    text: 'Each adapter has its fixed transport value, beginning with `mcp_stdio`.',
  },
  {
    id: 'IP-7.4',
    state: 'planned',
    text: 'The same call gives the same events on any transport, and no adapter decides by itself.',
  },
] as const satisfies readonly Requirement[];
