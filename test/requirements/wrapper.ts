// Wrapping a stdio client: functions and qualities.
import type { Requirement } from './requirement.ts';

export const WRAPPER = [
  {
    id: 'F-001',
    state: 'done',
    text: "The kind of agent is told from the command's name; an unknown one gets the list of known kinds.",
  },
  {
    id: 'F-002',
    state: 'done',
    text: "Each client's config is found where its platform keeps it, and `--config-path` overrides that.",
  },
  {
    id: 'F-003',
    state: 'done',
    text: "Every supported client's config is read into one list of servers, whatever its layout.",
  },
  {
    id: 'F-004',
    state: 'done',
    text: "Each client's own syntax for environment variables is expanded when its config is read.",
  },
  {
    id: 'F-005',
    state: 'done',
    text: 'Before a config changes, it is locked, checked for an earlier wrap, backed up and read back.',
  },
  {
    id: 'F-006',
    state: 'done',
    text: 'Each server entry is rewritten to start the shim with the original command behind `--`.',
  },
  {
    id: 'F-007',
    state: 'done',
    text: "The shim's own path is absolute and free of symlinks, or wrapping fails.",
  },
  {
    id: 'F-007a',
    state: 'done',
    text: 'A dry run shows a unified diff and leaves files and processes alone.',
  },
  {
    id: 'F-007b',
    state: 'done',
    text: 'A JSON array in place of a message is refused as a batch, never misread as one message.',
  },
  {
    id: 'F-008',
    state: 'done',
    text: 'The hub is up on loopback, on a free port unless one is given, before the agent starts.',
  },
  {
    id: 'F-009',
    state: 'done',
    text: "The agent starts with the user's environment and terminal, and knows that it is governed.",
  },
  {
    id: 'F-010',
    state: 'done',
    text: 'When the agent ends, shims drain, servers end, the config returns and its exit code is passed on.',
  },
  {
    id: 'F-011',
    state: 'done',
    text: 'A server runs as a child in its own process group and does not outlive its shim.',
  },
  {
    id: 'F-012',
    state: 'done',
    text: 'Both directions flow at once; calls are decided on the way out, answers recorded on the way back.',
  },
  {
    id: 'F-013',
    state: 'done',
    text: 'One line is one message: bounded, UTF-8, valid JSON-RPC 2.0, or skipped with an error.',
  },
  {
    id: 'F-014',
    state: 'done',
    text: 'A line that hides a further JSON-RPC message is detected and treated as an attack.',
  },
  {
    id: 'F-015',
    state: 'done',
    text: 'Open requests of both sides are tracked by id, so answers are matched and orphans noticed.',
  },
  {
    id: 'F-016',
    state: 'done',
    text: 'Shims ask the hub for decisions, wait for approvals, send heartbeats and heed its shutdown flag.',
  },
  {
    id: 'F-016a',
    state: 'done',
    text: 'A shim waits for a healthy hub, with growing pauses, before it accepts traffic.',
  },
  {
    id: 'F-016b',
    state: 'done',
    text: 'Every request to the hub has a time limit, and passing it fails as the profile says.',
  },
  {
    id: 'F-017',
    state: 'done',
    text: 'Handshake, ping, progress, cancel and change notices pass undecided and byte for byte.',
  },
  {
    id: 'F-018',
    state: 'done',
    text: 'A shim ends its server by closing stdin, then SIGTERM, then SIGKILL, and reaps it.',
  },
  {
    id: 'F-019',
    state: 'done',
    text: 'When `sub wrap` is told to stop, every shim drains in parallel and the config is restored.',
  },
  {
    id: 'F-020',
    state: 'done',
    text: 'A config is restored on exit, signal or crash; a failed restore prints how to do it by hand.',
  },
  {
    id: 'F-021',
    state: 'done',
    text: 'Every child process is waited for, so none is left as a zombie.',
  },
  {
    id: 'F-022',
    state: 'done',
    text: 'The profile is production unless another is chosen, on `sub wrap` and on the shim.',
  },
  {
    id: 'F-023',
    state: 'done',
    text: 'Development decides as production would, records it as WOULD_…, and lets the call pass.',
  },
  {
    id: 'F-024',
    state: 'done',
    text: 'Each record carries the active profile, so one can ask what production would have stopped.',
  },
  {
    id: 'NFR-001',
    state: 'planned',
    text: 'Governing a session costs little enough that nobody notices it.',
  },
  {
    id: 'NFR-001.1',
    state: 'planned',
    text: 'A message that needs no decision is forwarded in under 2 ms at p99.',
  },
  {
    id: 'NFR-001.2',
    state: 'planned',
    text: 'A decision by the hub takes under 10 ms at p99.',
  },
  {
    id: 'NFR-001.3',
    state: 'planned',
    text: "Rewriting a client's config takes under 200 ms.",
  },
  {
    id: 'NFR-001.4',
    state: 'planned',
    text: 'A shim needs under 15 MB of memory of its own.',
  },
  {
    id: 'NFR-001.5',
    state: 'planned',
    text: 'The agent is launched within one second.',
  },
  {
    id: 'NFR-001.6',
    state: 'planned',
    text: 'One shim parses more than 10,000 messages a second.',
  },
  {
    id: 'NFR-002',
    state: 'done',
    text: 'An operator can see what passes, what is decided and what breaks.',
  },
  {
    id: 'NFR-002.1',
    state: 'planned',
    text: 'The hub publishes metrics for messages, decisions, framing errors, server states and approval times.',
  },
  {
    id: 'NFR-002.2',
    state: 'done',
    text: 'Each governed message leaves a structured log line with server, method, tool, decision and latency.',
  },
  {
    id: 'NFR-002.3',
    state: 'done',
    text: 'In development the log line says what would have been blocked, why, and that it was forwarded.',
  },
  {
    id: 'NFR-003',
    state: 'done',
    text: 'A failing part never takes the session, the config or the safety with it.',
  },
  {
    id: 'NFR-003.1',
    state: 'done',
    text: 'A crashed server leaves its shim alive, and a crashed shim leaves the others and the agent alive.',
  },
  {
    id: 'NFR-003.2',
    state: 'done',
    text: 'Without a hub, production denies and development forwards and says so.',
  },
  {
    id: 'NFR-003.3',
    state: 'done',
    text: 'No way of ending leaves a zombie or an orphan behind.',
  },
  {
    id: 'NFR-003.4',
    state: 'done',
    text: "Whatever interrupts a session, the client's original config can be restored.",
  },
  {
    id: 'NFR-003.5',
    state: 'done',
    text: 'Two wraps at once can never damage one config file.',
  },
] as const satisfies readonly Requirement[];
