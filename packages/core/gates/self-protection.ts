// Self-protection: no call may name the files that govern it, such as the policy, `SUB_HOME` or the ledger.
import { isObject, type JsonObject } from '@subluminal/contracts';
import { asciiBytes, decodeText } from '../json/text.ts';
import { BACKSLASH, COLON, DOT, LOWER_N, LOWER_U, QUOTE, SPACE } from '../json/units.ts';
import {
  COMMAND_KEY,
  FILE_KEY,
  foldedKey,
  isAlwaysProse,
  LINES,
  type NamedPaths,
  namedInTexts,
  namedPaths,
} from '../paths/named-paths.ts';
import type { GuardedCall, MessageVerdict } from '../session/guard.ts';
import type { GatheredTexts } from '../session/peek/gather-texts.ts';
import { outlineCall } from '../shell/call-outline.ts';
import { withPatchNamed } from '../shell/command-args.ts';
import type { CommandOutline } from '../shell/index.ts';
import { visible } from '../text/visible.ts';
import type { GuardOptions, ProtectedName, SelfProtection } from './guard-options.ts';
import { quotedName, refusedPassage, type Stop } from './verdicts.ts';

const ADVICE =
  'This is not for an agent to read or change: tell the person what is needed, so that they do it themselves.';
const CHANGING = 'it would remove or overwrite';
const ELSEWHERE =
  'Name other files, or work in a folder of its own. What governs an agent is for a person to change.';
const UNREAD = 'its arguments are too many or too long to be checked for files that sub protects';
const SPLIT = 'Make several smaller calls of it.';
const SHOWN_NAME_MAX = 120;

/** The objection of self-protection to a call that was read whole. */
export function selfStop(
  { selfProtection, server }: GuardOptions,
  call: GuardedCall,
): Stop | undefined {
  // The texts of a call that is too large come at its end.
  if (selfProtection === undefined || call.envelope === undefined) return undefined;
  useInputRoots({ selfProtection }, call.envelope.rest?.['params']);
  return stopFor(selfProtection, call, () => touchedByCall({ selfProtection, server }, call));
}

type RootUser = Pick<GuardOptions, 'selfProtection'>;

/** Passes on the roots of the agent, which a server may start relative paths from. */
export function useRoots({ selfProtection }: RootUser, value: unknown): void {
  const roots: unknown = isObject(value) ? value['roots'] : undefined;
  if (!Array.isArray(roots)) return;
  const uris = roots.flatMap((root: unknown) => {
    return isObject(root) && typeof root['uri'] === 'string' ? [root['uri']] : [];
  });
  selfProtection?.useRoots(uris);
}

/** The same where the roots are the answer to a request for input (2026-07-28). */
export function useInputRoots(options: RootUser, params: unknown): void {
  const responses: unknown = isObject(params) ? params['inputResponses'] : undefined;
  if (!isObject(responses)) return;
  for (const response of Object.values(responses)) useRoots(options, response);
}

/** The objection of self-protection to a call of which only the texts are known. */
export function selfStopByTexts(
  { selfProtection, server }: GuardOptions,
  call: GuardedCall,
  { texts, isWhole }: GatheredTexts,
): Stop | undefined {
  if (selfProtection === undefined) return undefined;
  return stopFor(selfProtection, call, () => {
    const named = namedInTexts(texts, selfProtection);
    const changes = outlineCall({ server_name: server, tool_name: call.tool }, argsOf(texts));
    return { ...named, isWhole: named.isWhole && isWhole, changes };
  });
}

/** Texts by their keys; those of a list stand behind the same one. */
function argsOf(texts: GatheredTexts['texts']): JsonObject {
  const args = new Map<string, string[]>();
  for (const { key, text } of texts) {
    if (text === undefined) continue;
    const known = args.get(key);
    if (known === undefined) args.set(key, [text]);
    else known.push(text);
  }
  return Object.fromEntries(
    [...args].map(([key, all]) => [key, all.length > 1 ? all : all.join()]),
  );
}

/** The files that a call names, and what its commands would do to others. */
interface TouchedFiles extends NamedPaths {
  readonly changes?: CommandOutline | undefined;
}

interface ProtectedServer {
  readonly selfProtection: SelfProtection;
  readonly server: string;
}

function touchedByCall(
  { selfProtection, server }: ProtectedServer,
  call: GuardedCall,
): TouchedFiles {
  const { argsBytes, tool } = call;
  const params = call.envelope?.rest?.['params'];
  // Most arguments need not be parsed to see that nothing in them can be the name of a file.
  const isPlain =
    argsBytes !== undefined && !mayNamePath(argsBytes) && !selfProtection.hasBaseName(argsBytes);
  if (call.envelope?.rest === undefined && isPlain) return { names: [], isWhole: true };
  if (call.args === undefined) return { names: [], isWhole: false };
  const names = { server_name: server, tool_name: tool };
  const args = withPatchNamed(names, call.args);
  const changes = outlineCall(names, call.args);
  if (!isObject(params)) return { ...namedPaths(args, selfProtection), changes };
  // `_meta` describes the client, and no server opens it.
  const { _meta: _aboutClient, ...beside } = params;
  return { ...namedPaths([args, beside], selfProtection), changes };
}

/** Why these names must not pass. Names that cannot be read or looked up count as protected. */
function protectedReason(
  selfProtection: SelfProtection,
  subject: string,
  look: () => TouchedFiles,
): string | undefined {
  let touched: TouchedFiles = { names: [], isWhole: false };
  try {
    touched = look();
  } catch {
    // A fault must not open the gate: outside of production, the session lets a broken gate pass.
  }
  const { names, isWhole, changes } = touched;
  const shown = ({ what, name }: ProtectedName) => `${what} (\`${visible(name, SHOWN_NAME_MAX)}\`)`;
  try {
    const named = names.length === 0 ? undefined : selfProtection.find(names);
    if (named !== undefined) return `${subject} ${shown(named)}`;
    if (!isWhole || changes?.opaque.some(({ why }) => why === 'too_large') === true) return UNREAD;
    const isChanging = changes !== undefined && changes.removes.length + changes.puts.length > 0;
    const changed = isChanging ? selfProtection.findChanged(changes) : undefined;
    return changed && `${CHANGING} ${shown(changed)}`;
  } catch {
    return `${subject} a file that could not be looked up`;
  }
}

function adviceFor(why: string): string {
  if (why === UNREAD) return SPLIT;
  return why.startsWith(CHANGING) ? ELSEWHERE : ADVICE;
}

function stopFor(
  selfProtection: SelfProtection,
  { tool }: GuardedCall,
  look: () => TouchedFiles,
): Stop | undefined {
  const why = protectedReason(selfProtection, 'its arguments name', look);
  if (why === undefined) return undefined;
  return {
    rule: 'gate:self-protection',
    enforced: selfProtection.enforced,
    reason_code: 'SELF_PROTECTION',
    summary: `${quotedName(tool)} is blocked: ${why}.`,
    advice: adviceFor(why),
    severity: 'critical',
  };
}

/** A request or an answer of the agent that is no call, such as `resources/read`. */
export function selfPassage(
  { selfProtection }: GuardOptions,
  method: string,
  value: unknown,
): MessageVerdict | undefined {
  if (selfProtection?.enforced !== true || value === undefined) return undefined;
  const why = protectedReason(selfProtection, 'it names', () => namedPaths(value, selfProtection));
  if (why === undefined) return undefined;
  return refusedPassage({
    rule_id: 'gate:self-protection',
    severity: 'critical',
    reason_code: 'SELF_PROTECTION',
    summary: `${quotedName(method)} is not sent: ${why}.`,
    hint: adviceFor(why),
  });
}

// A quick search of the bytes of arguments, before they are parsed, for anything that can be the name of a
// file. It may find too much, but never too little.

/** How the texts behind a key are used: opened or run, prose, prose if it has several lines, or unknown. */
type KeyKind = 'opened' | 'prose' | 'lines' | 'any';

const PATH_SIGNS = asciiBytes('/.\\~%$*?');
const IS_SIGN = new Uint8Array(256);
for (const sign of PATH_SIGNS) IS_SIGN[sign] = 1;
/** From here on, one search of the engine for each sign is faster than a loop. */
const LONG = 128;
const KEY_BYTES_MAX = 128;
const KINDS_MAX = 1_024;
/** A longer text is no path, even if all of it is written in escapes. */
const ESCAPED_PATH_BYTES_MAX = 6 * 4_096;

const kinds = new Map<string, KeyKind>();

export function mayNamePath(json: Uint8Array): boolean {
  let key: KeyKind = 'any';
  let isBehindKey = false;
  for (let start = json.indexOf(QUOTE); start !== -1; ) {
    const end = endOfString(json, start + 1);
    let next = end + 1;
    while ((json[next] ?? COLON) <= SPACE) next++;
    if (json[next] === COLON) {
      if (end - start > KEY_BYTES_MAX || hasSign(json, start + 1, end)) return true;
      key = kindOf(decodeText(json, start + 1, end));
      if (key === 'opened') return true;
      isBehindKey = true;
    } else {
      const isFree = isBehindKey && isProse(json, { key, start: start + 1, end });
      if (!isFree && hasSign(json, start + 1, end)) return true;
      isBehindKey = false;
    }
    start = json.indexOf(QUOTE, end + 1);
  }
  return false;
}

/** The quote that ends a string. */
function endOfString(json: Uint8Array, from: number): number {
  for (let end = json.indexOf(QUOTE, from); end !== -1; end = json.indexOf(QUOTE, end + 1)) {
    let slashes = end;
    while (slashes > from && json[slashes - 1] === BACKSLASH) slashes--;
    if ((end - slashes) % 2 === 0) return end;
  }
  return json.length;
}

function kindOf(key: string): KeyKind {
  const known = kinds.get(key);
  if (known !== undefined) return known;
  const name = foldedKey(key);
  const kind = newKindOf(name);
  if (kinds.size >= KINDS_MAX) kinds.clear();
  kinds.set(key, kind);
  return kind;
}

function newKindOf(name: string): KeyKind {
  if (isAlwaysProse(name)) return 'prose';
  if (FILE_KEY.test(name) || COMMAND_KEY.test(name)) return 'opened';
  return LINES.has(name) ? 'lines' : 'any';
}

/** A text of several words or lines; one word may be a path that is opened, whatever its key. */
function isProse(
  json: Uint8Array,
  { key, start, end }: { readonly key: KeyKind; readonly start: number; readonly end: number },
): boolean {
  if (key === 'any' || mayGoUp(json, start, end)) return false;
  // Between two letters, so that it is no blank at the start or the end.
  if (key === 'prose') {
    if (!isLetter(json[start]) || !isLetter(json[end - 1]) || json[end - 2] === BACKSLASH) {
      return false;
    }
    const blank = json.indexOf(SPACE, start);
    return blank !== -1 && blank < end;
  }
  // The first backslash of a string is never escaped itself.
  const escape = json.indexOf(BACKSLASH, start);
  if (escape <= start || escape + 2 >= end || json[escape + 1] !== LOWER_N) return false;
  return isLetter(json[start]) && isLetter(json[escape + 2]);
}

/** Whether a text may have a `..` that takes back the words before it; a dot may be written `\u002e`. */
function mayGoUp(json: Uint8Array, start: number, end: number): boolean {
  if (end - start > ESCAPED_PATH_BYTES_MAX) return false;
  const text = json.subarray(start, end);
  return hasPair(text, DOT, DOT) || hasPair(text, BACKSLASH, LOWER_U);
}

function hasPair(text: Uint8Array, first: number, second: number): boolean {
  for (let at = text.indexOf(first); at !== -1; at = text.indexOf(first, at + 1)) {
    if (text[at + 1] === second) return true;
  }
  return false;
}

/** Of ASCII, and no blank, quote or escape. */
function isLetter(byte = SPACE): boolean {
  return byte > SPACE && byte < 0x80 && byte !== BACKSLASH;
}

function hasSign(json: Uint8Array, start: number, end: number): boolean {
  if (end - start >= LONG) {
    const text = json.subarray(start, end);
    return PATH_SIGNS.some((sign) => text.includes(sign));
  }
  for (let at = start; at < end; at++) if (IS_SIGN[json[at] ?? 0] === 1) return true;
  return false;
}
