// The texts of one message of any wire, with who wrote them and by which tool. For hints only: what it does not
// know it leaves out, and it never fails.
import { isObject } from '@subluminal/contracts';
import { ROLES } from '../../wires/part-texts.ts';

export interface MessageText {
  readonly role: 'system' | 'user' | 'assistant' | 'tool_use' | 'tool_result';
  readonly text: string;
  /** The tool, for arguments. */
  readonly tool?: string;
  /** The name of the argument, where it has one. */
  readonly key?: string;
}

/** A message that is longer is looked at by its size only. */
const JSON_LENGTH_MAX = 65_536;
const TEXT_LENGTH_MAX = 32_768;
const TEXTS_MAX = 256;
const DEPTH_MAX = 12;

const TOOL_USES: ReadonlySet<string> = new Set([
  'tool_use',
  'server_tool_use',
  'mcp_tool_use',
  'function',
  'custom',
  'function_call',
  'custom_tool_call',
  'local_shell_call',
]);
const TOOL_RESULTS: ReadonlySet<string> = new Set([
  'tool_result',
  'mcp_tool_result',
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
]);
/** Members of a message or block that hold what was written. */
const CONTENTS = ['content', 'text', 'output', 'refusal', 'tool_calls'] as const;

export function messageTexts(json: string): readonly MessageText[] {
  const found: MessageText[] = [];
  if (json.length > JSON_LENGTH_MAX) return found;
  collect(parsed(json), { role: 'user', found, depth: 0 });
  return found;
}

interface TextPlace extends Omit<MessageText, 'text'> {
  readonly found: MessageText[];
  readonly depth: number;
}

function collect(value: unknown, place: TextPlace): void {
  const { found, depth, ...from } = place;
  if (depth > DEPTH_MAX || found.length >= TEXTS_MAX) return;
  const inside = { ...place, depth: depth + 1 };
  if (typeof value === 'string') found.push({ ...from, text: value.slice(0, TEXT_LENGTH_MAX) });
  else if (Array.isArray(value)) for (const item of value) collect(item, inside);
  else if (isObject(value)) collectBlock(value, inside);
}

function collectBlock(block: { readonly [key: string]: unknown }, place: TextPlace): void {
  const type = textOf(block['type']);
  if (TOOL_USES.has(type)) return collectToolUse(block, place);
  const role = TOOL_RESULTS.has(type) ? 'tool_result' : ROLES.get(textOf(block['role']));
  for (const key of CONTENTS) collect(block[key], { ...place, role: role ?? place.role });
}

/** `input` of Anthropic, `arguments` of OpenAI, `action` of a shell. */
function collectToolUse(block: { readonly [key: string]: unknown }, place: TextPlace): void {
  const called = [block['function'], block['custom']].find(isObject) ?? block;
  const tool = textOf(called['name']) || textOf(block['type']);
  const written = called['input'] ?? called['arguments'] ?? block['action'];
  const input = typeof written === 'string' ? (parsed(written) ?? written) : written;
  const at = { ...place, role: 'tool_use', tool } as const;
  if (!isObject(input) || Array.isArray(input)) return collect(input, at);
  for (const [key, member] of Object.entries(input)) collectArgument(member, { ...at, key });
}

function collectArgument(value: unknown, place: TextPlace): void {
  const isWords = Array.isArray(value) && value.every((word) => typeof word === 'string');
  // `["npm", "test"]` is one command.
  if (isWords) return collect(value.join(' '), place);
  if (typeof value === 'string') return collect(value, place);
  if (Array.isArray(value)) for (const item of value) collectArgument(item, deeper(place));
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      collectArgument(member, { ...deeper(place), key });
    }
  }
}

function deeper(place: TextPlace): TextPlace {
  // A place that is too deep has room for nothing more.
  return place.depth > DEPTH_MAX ? { ...place, found: [] } : { ...place, depth: place.depth + 1 };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
