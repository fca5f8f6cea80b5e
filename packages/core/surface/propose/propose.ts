// A first manifest for a server, as YAML to be reviewed: reads are allowed at a modest rate, what
// may change something asks a person, and what looks destructive is forbidden.
import { isObject } from '@subluminal/contracts';
import { visible } from '../../text/visible.ts';
import { yamlQuoted as quoted } from '../../text/yaml-text.ts';
import { NAME_LENGTH_MAX, TOOLS_MAX } from '../manifest/shape.ts';
import { escapeName } from '../names/name-patterns.ts';
import { type Guess, guessOf } from '../names/tool-verbs.ts';

export interface Introspected {
  /** As the server is configured, not as it calls itself. */
  readonly server: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  /** What the server says of itself: hostile text. */
  readonly serverInfo?: { readonly name?: string; readonly version?: string };
  /** As listed by the server; whatever is malformed is left out, and so stays denied. */
  readonly tools: readonly unknown[];
  readonly prompts?: readonly unknown[];
  readonly resources?: readonly unknown[];
}

const READ_RATE = '30/minute';
const ASK_RATE = '10/minute';
const SAYS_MAX = 100;

/** The text of the proposal; it compiles, and allows nothing by itself that may change something. */
export function proposeManifest(introspected: Introspected): string {
  const { server, transport, serverInfo, tools, prompts = [], resources = [] } = introspected;
  const named = uniqueBy(tools, 'name');
  const left = tools.length - named.length;
  const lines = [
    `# Proposed for review: what ${comment(server)} may show to an agent.`,
    ...(serverInfo === undefined ? [] : [`# It calls itself ${saysOf(serverInfo)}.`]),
    '# A tool that is not listed is denied.',
    `server: ${quoted(server)}`,
    `transport: ${transport}`,
    'default: deny',
    named.length === 0 ? 'allowed_tools: []' : 'allowed_tools:',
    ...named.flatMap(([name, tool]) => toolLines(name, tool)),
    ...(left > 0 ? [`# ${left} more could not be listed: no name of their own, or too many.`] : []),
    ...allowLines('allowed_prompts', 'name', uniqueBy(prompts, 'name')),
    ...allowLines('allowed_resources', 'uri', uniqueBy(resources, 'uri')),
    '# Hidden recipients are the usual way out for data.',
    'blocked_params:',
    '  - pattern: "*.bcc"',
    '  - pattern: "*.forward_to"',
  ];
  return `${lines.join('\n')}\n`;
}

type Item = { readonly [key: string]: unknown };

function uniqueBy(items: readonly unknown[], key: 'name' | 'uri'): readonly [string, Item][] {
  const found = new Map<string, Item>();
  for (const item of items) {
    if (found.size >= TOOLS_MAX) break;
    const name: unknown = isObject(item) ? item[key] : undefined;
    if (!isObject(item) || typeof name !== 'string' || name === '') continue;
    // A name that no file can hold, or that gets too long when it is written, stays denied.
    if (escapeName(name).length > NAME_LENGTH_MAX || /\p{Cs}/u.test(name)) continue;
    if (!found.has(name)) found.set(name, item);
  }
  return [...found];
}

function toolLines(name: string, tool: Item): readonly string[] {
  const [reason, ...fields] = proposalFor(name, tool);
  const { description } = tool;
  const says = typeof description === 'string' && description !== '';
  return [
    `  - name: ${quoted(escapeName(name))} # ${reason}`,
    ...(says ? [`    # says: ${comment(description)}`] : []),
    ...fields.map((field) => `    ${field}`),
  ];
}

const FORBIDDEN =
  'allowed: false # to allow it by approval: allowed: true, requires_approval: true';

/** The reason, then the fields. Hints of the server may make a proposal stricter, never more lenient. */
function proposalFor(name: string, tool: Item): readonly string[] {
  const hints: Item = isObject(tool['annotations']) ? tool['annotations'] : {};
  const guess = guessOf(name);
  if (guess === 'destroy') return ['looks destructive, by its name: forbidden', FORBIDDEN];
  if (hints['destructiveHint'] === true) {
    return ['destructive, by its own word: forbidden', FORBIDDEN];
  }
  if (guess === 'read' && hints['readOnlyHint'] !== false) {
    return ['reads, by its name', 'allowed: true', `rate_limit: ${READ_RATE}`];
  }
  const reason = askReason(guess, hints['readOnlyHint']);
  return [reason, 'allowed: true', 'requires_approval: true', `rate_limit: ${ASK_RATE}`];
}

function askReason(guess: Guess, readOnly: unknown): string {
  if (guess === 'write') return 'may change something, by its name: a person is asked';
  if (guess === 'read') return 'named like a read, but says that it is none: a person is asked';
  if (readOnly !== true) return 'not clear what it does: a person is asked';
  return 'says that it only reads, which is no proof: a person is asked';
}

function allowLines(
  field: 'allowed_prompts' | 'allowed_resources',
  key: 'name' | 'uri',
  items: readonly [string, Item][],
): readonly string[] {
  if (items.length === 0) return [];
  return [
    '# Text for the model, written by the server: allow what you have read.',
    `${field}:`,
    ...items.map(([name]) => `  - { ${key}: ${quoted(escapeName(name))}, allowed: false }`),
  ];
}

function saysOf({ name = '', version = '' }: NonNullable<Introspected['serverInfo']>): string {
  return comment(`${name} ${version}`.trim());
}

/** Hostile text in a comment: one line, and nothing that hides or moves. */
function comment(text: string): string {
  return `"${visible(text, SAYS_MAX)}"`;
}
