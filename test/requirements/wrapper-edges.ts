// The edge cases of wrapping a stdio client.
import type { Requirement } from './requirement.ts';

export const WRAPPER_EDGES = [
  {
    id: 'EC-STDIO-001',
    state: 'done',
    text: '`sub wrap` stops with the path it expected when the client has no config file.',
  },
  {
    id: 'EC-STDIO-002',
    state: 'done',
    text: 'An empty client config is a parse error, and nothing is changed.',
  },
  {
    id: 'EC-STDIO-003',
    state: 'done',
    text: 'A config without MCP servers ends `sub wrap` with a message that says so.',
  },
  {
    id: 'EC-STDIO-004',
    state: 'done',
    text: 'A config whose servers are all switched off ends `sub wrap` with a message that says so.',
  },
  {
    id: 'EC-STDIO-005',
    state: 'done',
    text: 'A second `sub wrap` on one config refuses while the first holds the lock.',
  },
  {
    id: 'EC-STDIO-006',
    state: 'done',
    text: 'A backup left behind by a crash is replaced with a warning and does not stop the run.',
  },
  {
    id: 'EC-STDIO-007',
    state: 'done',
    text: 'When the config cannot be written, the original comes back and the command fails.',
  },
  {
    id: 'EC-STDIO-008',
    state: 'done',
    text: 'When the agent command cannot start, the config is restored and the command fails.',
  },
  {
    id: 'EC-STDIO-009',
    state: 'done',
    text: 'When a server cannot start, each request to it gets an error and the cause is logged.',
  },
  {
    id: 'EC-STDIO-010',
    state: 'done',
    text: 'When a server dies during a session, waiting requests get errors and the shim ends.',
  },
  {
    id: 'EC-STDIO-011',
    state: 'done',
    text: 'When the agent dies, its servers are ended and the config is restored.',
  },
  {
    id: 'EC-STDIO-012',
    state: 'done',
    text: 'SIGTERM during a session drains first, then terminates, then kills, then restores the config.',
  },
  {
    id: 'EC-STDIO-013',
    state: 'done',
    text: 'Ctrl+C during a session shuts down just as SIGTERM does.',
  },
  {
    id: 'EC-STDIO-014',
    state: 'done',
    text: 'A message above the size cap is refused with a clean error and the stream goes on.',
  },
  {
    id: 'EC-STDIO-015',
    state: 'done',
    text: 'A line that is not JSON is logged and passed over, and the next line is still read.',
  },
  {
    id: 'EC-STDIO-016',
    state: 'done',
    text: 'A message that lacks `jsonrpc` is logged and passed over, and the next line is still read.',
  },
  {
    id: 'EC-STDIO-017',
    state: 'done',
    text: 'JSON with neither method nor id is dropped in production, only reported in development.',
  },
  {
    id: 'EC-STDIO-018',
    state: 'done',
    text: 'A second message smuggled behind a raw newline is rejected in production, warned of in development.',
  },
  {
    id: 'EC-STDIO-019',
    state: 'done',
    text: 'A request from a server reaches the agent, and the answer is matched to it by id.',
  },
  {
    id: 'EC-STDIO-020',
    state: 'done',
    text: 'A notice that a tool list changed reaches the agent without a policy decision.',
  },
  {
    id: 'EC-STDIO-021',
    state: 'done',
    text: 'When no approval channel answers, production denies the call and development approves it.',
  },
  {
    id: 'EC-STDIO-022',
    state: 'done',
    text: 'Ctrl+C while an approval is open withdraws the approval and shuts down.',
  },
  {
    id: 'EC-STDIO-023',
    state: 'done',
    text: 'A VS Code config, which lists servers under `servers`, is read correctly.',
  },
  {
    id: 'EC-STDIO-024',
    state: 'done',
    text: 'A Zed config, which lists servers under `context_servers`, is read correctly.',
  },
  {
    id: 'EC-STDIO-025',
    state: 'done',
    text: "The user's and the project's Claude Code configs are merged, and the project wins.",
  },
  {
    id: 'EC-STDIO-026',
    state: 'done',
    text: '`${VAR}` in a config is expanded on reading; an unset variable without default is an error.',
  },
  {
    id: 'EC-STDIO-027',
    state: 'done',
    text: 'An unfinished line from a server waits until its newline arrives.',
  },
  {
    id: 'EC-STDIO-028',
    state: 'done',
    text: 'What a server writes to stderr reaches the terminal, outside the governed stream.',
  },
  {
    id: 'EC-STDIO-029',
    state: 'done',
    text: 'Rewritten entries name the shim by absolute path, so they work from any folder.',
  },
  {
    id: 'EC-STDIO-030',
    state: 'done',
    text: 'A protocol version that agent and server dispute passes through untouched.',
  },
  {
    id: 'EC-STDIO-031',
    state: 'done',
    text: 'Cancelling a call that waits for approval withdraws the request and passes the cancellation on.',
  },
  {
    id: 'EC-STDIO-032',
    state: 'done',
    text: 'A tool answer of 5 MB, below the cap, passes unchanged.',
  },
  {
    id: 'EC-STDIO-033',
    state: 'done',
    text: 'In development a denied call is recorded as WOULD_BLOCK and still goes through.',
  },
  {
    id: 'EC-STDIO-034',
    state: 'done',
    text: 'A config that already runs through the shim is refused, never wrapped twice.',
  },
  {
    id: 'EC-STDIO-035',
    state: 'done',
    text: 'A JSON-RPC batch is rejected and logged, unless the negotiated version has batches.',
  },
  {
    id: 'EC-STDIO-036',
    state: 'done',
    text: 'A shim that starts before its hub retries the health check, then gives up with an error.',
  },
  {
    id: 'EC-STDIO-037',
    state: 'done',
    text: 'A hub that hangs means a denial in production and a logged pass in development.',
  },
  {
    id: 'EC-STDIO-038',
    state: 'done',
    text: '`--dry-run` prints how the config would change, touches no file and exits 0.',
  },
  {
    id: 'EC-STDIO-039',
    state: 'done',
    text: "A server added in the agent's own UI is not governed until the next wrap, and the docs say so.",
  },
  {
    id: 'EC-STDIO-040',
    state: 'done',
    text: 'A chosen hub port that is taken ends the command with an error that names the port.',
  },
  {
    id: 'EC-STDIO-041',
    state: 'done',
    text: 'An idle shim learns of a shutdown by heartbeat within five seconds.',
  },
  {
    id: 'EC-STDIO-042',
    state: 'done',
    text: 'When the hub vanishes, its shims shut down cleanly at once.',
  },
  {
    id: 'EC-STDIO-043',
    state: 'done',
    text: 'The lock still holds after an editor replaces the config file by rename.',
  },
  {
    id: 'EC-STDIO-044',
    state: 'done',
    text: 'A lock file that a dead process left does not stop the next run.',
  },
] as const satisfies readonly Requirement[];
