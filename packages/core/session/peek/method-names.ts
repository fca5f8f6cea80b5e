// The methods of the protocol, and which texts are names of methods. A text that only looks like a method of
// the protocol is none: a lenient server may take it for that method, and no rule for the method would see it.
import { latinOf } from '../../surface/names/spelling.ts';

/** What an agent may send to a server, over all revisions of the protocol. */
export const AGENT_METHODS: readonly string[] = [
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'subscriptions/listen',
  'logging/setLevel',
  'tasks/get',
  'tasks/result',
  'tasks/list',
  'tasks/cancel',
  'tasks/update',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/tasks/status',
];
/** What a server may send. */
const SERVER_METHODS: readonly string[] = [
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'notifications/message',
  'notifications/resources/updated',
  'notifications/resources/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/elicitation/complete',
  'notifications/subscriptions/acknowledged',
];

const CONTROL = /[\u0000-\u001f\u007f]/;
/** No server decodes a text more often than this. */
const DECODINGS_MAX = 4;
const ESCAPE = /%([0-9a-f]{2})/gi;
/** Letters of other scripts that look like a slash. */
const SLASH_LETTERS = /[\u3033\u30ce\u4e3f\u2cc6\u1735]/gu;
const NO_LETTER = /[^\p{L}\p{N}]+/gu;

const METHODS: ReadonlySet<string> = new Set([...AGENT_METHODS, ...SERVER_METHODS]);
const FOLDED: ReadonlySet<string> = new Set([...METHODS].map(foldedOf));

/** Whether this may be the name of a method, of the protocol or of anybody's own. */
export function isMethodName(text: string): boolean {
  if (METHODS.has(text)) return true;
  // A lenient server could read it without what we cannot see.
  return text !== '' && !CONTROL.test(text) && !isLookAlikeMethod(text);
}

/** Whether this is no method of the protocol, and can be taken for one. */
export function isLookAlikeMethod(text: string): boolean {
  return !METHODS.has(text) && FOLDED.has(foldedOf(text));
}

/** Without case, separators, escapes and what belongs to an address; letters as they look. */
function foldedOf(text: string): string {
  const [path = ''] = decoded(text).split(/[?#;]/, 1);
  return latinOf(path.replace(SLASH_LETTERS, '')).replace(NO_LETTER, '');
}

function decoded(text: string): string {
  let plain = text.normalize('NFKC');
  for (let round = 0; round < DECODINGS_MAX && plain.includes('%'); round++) {
    plain = plain.replace(ESCAPE, (_escape, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return plain;
}
