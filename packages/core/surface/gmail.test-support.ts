// The mail server of the examples: what it offers, and a manifest for it.
import { formatProblem } from '../source/problem.ts';
import { compileManifest } from './manifest/compile.ts';
import type { Manifest } from './manifest/types.ts';

export const GMAIL_YAML = `# mcp-manifests/gmail.yaml
server: gmail-mcp
transport: stdio
allowed_tools:
  - name: gmail.search
    allowed: true
    rate_limit: 30/minute
  - name: gmail.read
    allowed: true
    rate_limit: 60/minute
  - name: gmail.send
    allowed: true
    requires_approval: true  # escalate to human via permission engine
  - name: gmail.delete
    allowed: false           # hard block — never permitted
blocked_params:
  - pattern: "*.bcc"        # no hidden recipients
  - pattern: "*.forward_to" # no auto-forwarding rules
schema_rewrites:
  gmail.send:
    strip_params: ["bcc", "forward_to"]
    constrain_params:
      to:
        max_recipients: 5        # Prevent mass-mailing
      attachments:
        max_size_bytes: 10485760 # 10MB limit
  gmail.search:
    constrain_params:
      max_results:
        maximum: 50              # Prevent context flooding
circuit_breaker:
  error_threshold: 5
  error_window: 60s
  latency_threshold: 30s
  recovery_timeout: 120s
  recovery_probes: 3
  max_recovery_backoff: 15m
`;

const TEXT = { type: 'string' };

export const GMAIL_TOOLS = [
  {
    name: 'gmail.search',
    title: 'Search mail',
    description: 'Searches the mailbox.',
    inputSchema: {
      type: 'object',
      properties: {
        query: TEXT,
        max_results: { type: 'integer', minimum: 1, maximum: 500, default: 20 },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
    _meta: { origin: 'server' },
  },
  {
    name: 'gmail.read',
    inputSchema: { type: 'object', properties: { id: TEXT }, required: ['id'] },
  },
  {
    name: 'gmail.send',
    inputSchema: {
      type: 'object',
      properties: {
        to: { type: 'array', items: TEXT },
        subject: TEXT,
        body: TEXT,
        bcc: { type: 'array', items: TEXT },
        forward_to: TEXT,
        attachments: {
          type: 'array',
          items: { type: 'object', properties: { name: TEXT, data: TEXT } },
        },
      },
      required: ['to', 'subject'],
    },
    outputSchema: { type: 'object', properties: { bcc: TEXT } },
  },
  { name: 'gmail.delete', inputSchema: { type: 'object', properties: { id: TEXT } } },
  { name: 'gmail.modify_labels', inputSchema: { type: 'object', properties: { labels: TEXT } } },
];

/** Of the form of a SHA-256, and good enough to tell texts apart; the core has none of its own. */
export function sha256(text: string): string {
  const words = Array.from({ length: 8 }, (_, word) => {
    let hash = 0x811c9dc5 ^ (word * 0x9e3779b9);
    for (let index = 0; index < text.length; index++) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193 + 2 * word);
    }
    return (hash >>> 0).toString(16).padStart(8, '0');
  });
  return words.join('');
}

/** A manifest that must compile. */
export async function manifestOf(text: string): Promise<Manifest> {
  const result = await compileManifest({ file: 'manifest.yaml', text }, { sha256 });
  if (result.ok) return result.manifest;
  throw new Error(result.problems.map(formatProblem).join('\n'));
}

/** The problems of a manifest that must not compile, one line each. */
export async function problemsOf(text: string): Promise<readonly string[]> {
  const result = await compileManifest({ file: 'm.yaml', text }, { sha256 });
  if (result.ok) throw new Error('it compiles');
  return result.problems.map(formatProblem);
}
