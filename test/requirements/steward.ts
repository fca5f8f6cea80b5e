// The agent that is born governed, and its tool plane.
import type { Requirement } from './requirement.ts';

export const STEWARD = [
  {
    id: 'ST-4-ring0',
    state: 'done',
    text: "The agent's container has a read-only root, a scratch folder, listed egress and no secrets in its environment.",
  },
  {
    id: 'ST-4-ring1',
    state: 'done',
    text: 'A manifest puts each action in a tier: run, run and log, ask a person, or never.',
  },
  {
    id: 'ST-4-ring2',
    state: 'done',
    text: 'A second model judges each proposed action without seeing raw outside content, and can only tighten.',
  },
  {
    id: 'ST-4-ring3',
    state: 'done',
    text: 'Every model call, action, verdict and block is recorded for good, and odd patterns raise an alert.',
  },
  {
    id: 'ST-5.1',
    state: 'done',
    text: 'Outside content is tagged, escaped, capped and checked for injection before a model sees it.',
  },
  {
    id: 'ST-5.2',
    state: 'done',
    text: 'Secrets stay encrypted, are lent for a short time at the call, and leaks are looked for both ways.',
  },
  {
    id: 'ST-5.3',
    state: 'done',
    text: 'Untrusted tools run in WebAssembly with declared hosts, hard limits and no access to secrets.',
  },
  {
    id: 'ST-5.4',
    state: 'done',
    text: 'Each memory knows its origin and trust, fades unless confirmed, and core facts change only by the user.',
  },
  {
    id: 'ST-5.5',
    state: 'done',
    text: 'Nothing leaves before checks for personal data, secrets, recipient, volume and fitting content.',
  },
  {
    id: 'ST-5.6',
    state: 'done',
    text: 'A file changes only after its diff was approved, and every change can be rolled back.',
  },
  {
    id: 'ST-5.7',
    state: 'done',
    text: 'Configuration is versioned text; the agent may propose a change, only the user can accept it.',
  },
  {
    id: 'ST-6.1',
    state: 'done',
    text: 'One generalist agent with one memory serves tasks across all domains.',
  },
  {
    id: 'ST-6.2',
    state: 'done',
    text: 'Sub-agents are few, timed, scoped, unable to spawn others, and governed like the agent itself.',
  },
  {
    id: 'ST-7.1',
    state: 'done',
    text: 'The agent drafts skill files; a skill is used once approved and grants no new access.',
  },
  {
    id: 'ST-7.2',
    state: 'done',
    text: 'The agent can propose an MCP server, which joins with a cautious manifest the user approved.',
  },
  {
    id: 'ST-7.3',
    state: 'done',
    text: 'A tool the agent has built runs sandboxed, and only after the user saw its code and permissions.',
  },
  {
    id: 'ST-7.4',
    state: 'done',
    text: 'Skills, servers and generated tools are three steps, each of which can be enabled by itself.',
  },
  {
    id: 'ST-8.1',
    state: 'done',
    text: "No MCP server is within the agent's reach except through the tool plane.",
  },
  {
    id: 'ST-8.2',
    state: 'done',
    text: 'The agent sees one tool list and cannot tell a governed server from a built-in tool.',
  },
  {
    id: 'ST-8.3',
    state: 'done',
    text: 'The tool plane enforces manifests, filters both directions and records every call.',
  },
  {
    id: 'ST-8.3.1',
    state: 'done',
    text: "A server's manifest says which tools, parameters and rates are allowed.",
  },
  {
    id: 'ST-8.3.2',
    state: 'done',
    text: 'Arguments are scanned on their way out, and results on their way in.',
  },
  {
    id: 'ST-8.3.3',
    state: 'done',
    text: "Each call's record has redacted arguments, manifest version, verdict, summary, latency and status.",
  },
  {
    id: 'ST-8.4',
    state: 'done',
    text: "A new server is introspected, gets a cautious manifest and goes live after the user's approval.",
  },
  {
    id: 'ST-8.5',
    state: 'done',
    text: 'Manifests reload while running, each server is isolated, and the plane works on stdio and HTTP alike.',
  },
  {
    id: 'ST-8.6',
    state: 'done',
    text: 'Limits, breaker and anomaly checks protect every server while it runs, not only when it is added.',
  },
  {
    id: 'ST-8.7',
    state: 'done',
    text: 'Interception works on JSON-RPC messages: tool list, call, result and handshake.',
  },
  {
    id: 'ST-8.8',
    state: 'done',
    text: 'One interceptor serves stdio and streamable HTTP, including sessions and reconnection.',
  },
  {
    id: 'ST-8.9',
    state: 'done',
    text: 'Forbidden tools and parameters vanish from the list and its schemas; limits are written into them.',
  },
  {
    id: 'ST-8.10',
    state: 'done',
    text: 'Each call passes the stages of enforcement in one fixed order.',
  },
  {
    id: 'ST-8.10.1',
    state: 'done',
    text: 'A tool or parameter that the manifest forbids is refused and recorded.',
  },
  {
    id: 'ST-8.10.2',
    state: 'done',
    text: 'A tool whose tier asks for a person waits for that approval.',
  },
  {
    id: 'ST-8.10.3',
    state: 'done',
    text: 'A call above its rate is refused with the time to wait.',
  },
  {
    id: 'ST-8.10.4',
    state: 'done',
    text: 'Arguments with personal data, secrets or a wrong recipient are stopped and reported.',
  },
  {
    id: 'ST-8.10.5',
    state: 'done',
    text: "Credentials are added at the transport, out of the agent's sight.",
  },
  {
    id: 'ST-8.10.6',
    state: 'done',
    text: 'The server receives the clean message without anything internal.',
  },
  {
    id: 'ST-8.10.7',
    state: 'done',
    text: 'A result is scanned for injection, tagged as outside content and held to a size.',
  },
  {
    id: 'ST-8.10.8',
    state: 'done',
    text: 'The call is recorded append-only, with its secrets redacted.',
  },
  {
    id: 'ST-8.10.9',
    state: 'done',
    text: 'The agent gets the filtered and tagged result.',
  },
  {
    id: 'ST-8.11',
    state: 'done',
    text: 'A server has a state; failures trip a breaker, calls get clean errors, and probes bring it back.',
  },
  {
    id: 'ST-8.12',
    state: 'done',
    text: 'Intent, policy, capability and credentials are checked in separate layers, none trusted alone.',
  },
  {
    id: 'ST-9.1',
    state: 'done',
    text: 'Shell, files, browser and search are built in, each in its permission tier.',
  },
  {
    id: 'ST-9.2',
    state: 'done',
    text: 'Mail, calendar, documents, music and home servers come with cautious manifests.',
  },
  {
    id: 'ST-9.3',
    state: 'done',
    text: 'Skills, then servers, then generated tools can be added by the user from the running agent.',
  },
  {
    id: 'ST-10',
    state: 'done',
    text: 'The agent can be reached over chat channels without loosening its limits.',
  },
  {
    id: 'ST-10-channels',
    state: 'done',
    text: 'WhatsApp, Telegram, web chat, Slack, Signal and Discord each have an adapter.',
  },
  {
    id: 'ST-10-security',
    state: 'done',
    text: 'Inbound messages are verified, rates limited, confirmations complete and tiers set by channel.',
  },
  {
    id: 'ST-11',
    state: 'done',
    text: 'The agent works with any provider and falls back along a chain.',
  },
  {
    id: 'ST-11-primary',
    state: 'done',
    text: 'Hosted and local models can both drive the agent, fully offline if wanted.',
  },
  {
    id: 'ST-11-guardian',
    state: 'done',
    text: 'The guardian runs on a smaller, cheaper model of its own.',
  },
] as const satisfies readonly Requirement[];
