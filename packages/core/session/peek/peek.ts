// Which message a line holds, found without building it.

import { ByteScanner } from '../../json/byte-scanner.ts';
import { asciiBytes, decodeText, stringText } from '../../json/text.ts';
import { END, LOWER_N, LOWER_T, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../json/units.ts';
import {
  emptyDraft,
  ID_BYTES_MAX,
  idOf,
  isWord,
  type MessageDraft,
  type MessageScanner,
  type ObjectScope,
  readInside,
  readMembers,
  scopeOf,
  settle,
} from './members.ts';
import {
  isLabelValue,
  isMethodName,
  type ProtocolObject,
  REQUEST_LABELS,
} from './protocol-names.ts';
import type { ByteRange, InvalidReason, MessageId, Seen } from './types.ts';

export interface PeekOptions {
  /** The bytes are known to be valid UTF-8: long strings are then read faster. */
  readonly skim?: boolean;
}

/** Longer versions and methods are ignored. */
const TEXT_BYTES_MAX = 1_024;
const NAME_BYTES_MAX = 65_536;
export const TOOLS_CALL = 'tools/call';
const TOOLS_CALL_WORD = asciiBytes('"tools/call"');
const JSON_RPC_2 = asciiBytes('"2.0"');

const PROGRESS_TOKEN = REQUEST_LABELS.indexOf('progressToken');
/** The id that a model gave to a call: Claude Code's name of it, and Codex's. */
const TOOL_USE_ID = REQUEST_LABELS.indexOf('claudecode/toolUseId');
const CALL_ID = REQUEST_LABELS.indexOf('callId');
const PROTOCOL_VERSION = REQUEST_LABELS.indexOf('io.modelcontextprotocol/protocolVersion');
const CAPABILITIES = REQUEST_LABELS.indexOf('io.modelcontextprotocol/clientCapabilities');
const SUBSCRIPTION_ID = REQUEST_LABELS.length;
/** Stands for a value that is no id: no request has it. */
const NO_ID: MessageId = { type: 'string', json: '' };

const META = scopeOf('meta', [...REQUEST_LABELS, 'io.modelcontextprotocol/subscriptionId'], {
  visit: (scan, draft, key) => {
    const start = scan.at;
    const read =
      key === PROTOCOL_VERSION
        ? text(scan, TEXT_BYTES_MAX, (value) => (draft.params.metaVersion = value))
        : scan.skipValue(3);
    if (!read) return false;
    const value = { start, end: scan.at };
    if (key === PROGRESS_TOKEN) draft.params.progressToken = value;
    if (key === CAPABILITIES) draft.params.hasCapabilities = true;
    if (key === SUBSCRIPTION_ID) {
      draft.params.subscriptionId = idOf(scan.bytes, start, scan.at) ?? NO_ID;
      draft.params.bound = true;
    } else if (key === -1 || !isLabelValue(key, scan.bytes, value)) draft.params.bound = true;
    else if ((key === TOOL_USE_ID || key === CALL_ID) && scan.bytes[start] === QUOTE) {
      draft.params.toolUseId = value;
    }
    return true;
  },
});

/** Members of `params` whose own keys matter, by their place in the list of keys. */
const IN_PARAMS: { readonly [key: number]: ProtocolObject } = {
  7: 'task',
  8: 'reference',
  9: 'argument',
  10: 'item',
  11: 'item',
  13: 'answer',
  14: 'failure',
};

const PARAMS = scopeOf(
  'params',
  [
    ...['name', 'arguments', '_meta', 'protocolVersion', 'requestId', 'uri', 'cursor', 'task'],
    ...['ref', 'argument', 'messages', 'tools', 'taskId', 'result', 'error'],
  ],
  {
    visit: (scan, draft, key) => {
      if (key !== 0 && key !== 1) draft.params.more = true;
      if (key === -1 || key > 2) draft.params.bound = true;
      switch (key) {
        case 0:
          return text(scan, NAME_BYTES_MAX, (value) => (draft.params.name = value));
        case 2:
          return readMeta(scan, draft);
        case 3:
          return text(scan, TEXT_BYTES_MAX, (value) => (draft.params.protocolVersion = value));
        case 12:
          return text(scan, TEXT_BYTES_MAX, (value) => (draft.params.taskId = value));
      }
      const inside = IN_PARAMS[key];
      if (inside !== undefined) return readInside(scan, inside, 2);
      const start = scan.at;
      if (key === 1) {
        const read = scan.skipCanonical(2);
        draft.params.args = { start, end: scan.at };
        draft.params.argsAreCanonical = read === 'canonical';
        return read !== undefined;
      }
      if (!scan.skipValue(2)) return false;
      if (key === 4) draft.params.requestId = idOf(scan.bytes, start, scan.at);
      return true;
    },
  },
);

function readMeta(scan: MessageScanner, draft: MessageDraft): boolean {
  const start = scan.at;
  if (scan.bytes[start] !== OPEN_BRACE) {
    draft.params.bound = true;
    return scan.skipValue(2);
  }
  if (!readMembers(scan, META, draft)) return false;
  draft.params.meta = { start, end: scan.at };
  return true;
}

/** Notes the mark that only Subluminal may write; see `from-server.ts`. */
function oursIn(place: ProtocolObject) {
  return scopeOf(place, ['subluminal'], {
    visit: (scan, draft, key) => {
      if (key === 0) draft.forged = true;
      return scan.skipValue(3);
    },
  });
}

const RESULT_META = oursIn('meta');
const ERROR_DATA = oursIn('data');

/** The members of `result` whose own keys matter, by their place in the list of keys. */
const LISTS_FROM = 6;
const IN_RESULT: { readonly [key: number]: ProtocolObject } = {
  14: 'task',
  15: 'task',
  16: 'answer',
  17: 'failure',
};
const RESULT_TASK = 15;

const RESULT = scopeOf(
  'result',
  [
    ...['isError', 'structuredContent', '_meta', 'resultType', 'protocolVersion', 'nextCursor'],
    ...['content', 'tools', 'resources', 'resourceTemplates', 'prompts', 'contents', 'messages'],
    ...['roots', 'tasks', 'task', 'result', 'error'],
  ],
  {
    visit: (scan, draft, key) => {
      switch (key) {
        case 0:
          draft.isError = scan.bytes[scan.at] === LOWER_T;
          break;
        case 2:
          if (scan.bytes[scan.at] === OPEN_BRACE) return readMembers(scan, RESULT_META, draft);
          break;
        case 3:
          return text(scan, TEXT_BYTES_MAX, (value) => (draft.resultType = value));
        case 4:
          return text(scan, TEXT_BYTES_MAX, (value) => (draft.protocolVersion = value));
      }
      if (key < LISTS_FROM) return scan.skipValue(2);
      if (key === RESULT_TASK) draft.hasTask = true;
      return readInside(scan, IN_RESULT[key] ?? 'item', 2);
    },
  },
);

const ERROR = scopeOf('error', ['code', 'message', 'data'], {
  visit: (scan, draft, key) => {
    const start = scan.at;
    if (key === 2 && scan.bytes[start] === OPEN_BRACE) return readMembers(scan, ERROR_DATA, draft);
    const quoted = scan.bytes[start] === QUOTE;
    if (key === 1 && quoted ? !scan.readString() : !scan.skipValue(2)) return false;
    if (key === 0) draft.code = codeOf(scan.bytes, { start, end: scan.at });
    if (key === 1 && quoted) draft.message = { start, end: scan.at };
    return true;
  },
});

const MESSAGE = scopeOf('top', ['jsonrpc', 'id', 'method', 'params', 'result', 'error'], {
  visit: (scan, draft, key) => {
    switch (key) {
      case 0:
        return readVersion(scan, draft);
      case 1:
        return readId(scan, draft);
      case 2:
        return readMethod(scan, draft);
      case 3:
        return readParams(scan, draft);
      case 4:
        return readResult(scan, draft);
      case 5:
        draft.error = true;
        if (scan.bytes[scan.at] === OPEN_BRACE) return readMembers(scan, ERROR, draft);
        scan.complain('shape');
    }
    if (key === -1) draft.extra = true;
    return scan.skipValue(1);
  },
  repeated: (draft, key) => {
    // With two ids, we cannot know which one the other side takes.
    if (key === 1) draft.id = null;
  },
});

/** The objects that decisions depend on: no key may stand twice in them. */
export const DECIDED_SCOPES: { readonly [P in ProtocolObject]?: ObjectScope } = {
  top: MESSAGE,
  params: PARAMS,
  meta: META,
  result: RESULT,
  error: ERROR,
};

/** Reads one message: a whole line, with or without its line break. Never throws. */
export function peek(bytes: Uint8Array, { skim = false }: PeekOptions = {}): Seen {
  const scan = new ByteScanner<InvalidReason>(bytes, skim);
  const draft = emptyDraft();
  const first = scan.next();
  if (first === OPEN_BRACKET) return { kind: 'batch' };
  if (first !== OPEN_BRACE) {
    if (first === END || scan.skipValue(0)) scan.complain('not_object');
  } else if (readMembers(scan, MESSAGE, draft) && scan.next() !== END) {
    // The id may be that of another message on the same line.
    draft.id = null;
    scan.fail('json', scan.at);
  }
  const { reason, offset } = scan;
  return settle(draft, reason === undefined ? undefined : { reason, offset });
}

function readVersion(scan: MessageScanner, draft: MessageDraft): boolean {
  const { bytes, at } = scan;
  if (isWord(JSON_RPC_2, bytes, at)) {
    scan.at += JSON_RPC_2.length;
    draft.version = true;
    return true;
  }
  return text(scan, TEXT_BYTES_MAX, (value) => (draft.version = value === '2.0'));
}

function readId(scan: MessageScanner, draft: MessageDraft): boolean {
  const start = scan.at;
  const read = scan.bytes[start] === QUOTE ? scan.readString() : scan.skipValue(1);
  if (!read) return false;
  // Once an id has come twice, it stays unknown.
  draft.id = draft.id === null ? null : (idOf(scan.bytes, start, scan.at) ?? null);
  if (scan.at - start > ID_BYTES_MAX) scan.complain('id');
  return true;
}

function readMethod(scan: MessageScanner, draft: MessageDraft): boolean {
  draft.method = null;
  if (isWord(TOOLS_CALL_WORD, scan.bytes, scan.at)) {
    scan.at += TOOLS_CALL_WORD.length;
    draft.method = TOOLS_CALL;
    return true;
  }
  return text(scan, TEXT_BYTES_MAX, (value) => {
    if (isMethodName(value)) draft.method = value;
  });
}

function readParams(scan: MessageScanner, draft: MessageDraft): boolean {
  const first = scan.bytes[scan.at];
  if (first === OPEN_BRACE) return readMembers(scan, PARAMS, draft);
  // Some peers write null for no params.
  if (first !== OPEN_BRACKET && first !== LOWER_N) scan.complain('params');
  return scan.skipValue(1);
}

function readResult(scan: MessageScanner, draft: MessageDraft): boolean {
  const start = scan.at;
  // An invalid answer is still an answer: the agent that waits for it gets an error.
  draft.result = { start, end: start };
  const read =
    scan.bytes[start] === OPEN_BRACE ? readMembers(scan, RESULT, draft) : scan.skipValue(1);
  if (read) draft.result = { start, end: scan.at };
  return read;
}

/** Reads a string and hands it to `take`; any other value is skipped. */
function text(scan: MessageScanner, bytesMax: number, take: (value: string) => void): boolean {
  const start = scan.at;
  if (scan.bytes[start] !== QUOTE) return scan.skipValue(3);
  if (!scan.readString()) return false;
  const { bytes, at, escaped } = scan;
  if (at - start > bytesMax) return true;
  take(escaped ? stringText(decodeText(bytes, start, at)) : decodeText(bytes, start + 1, at - 1));
  return true;
}

function codeOf(bytes: Uint8Array, { start, end }: ByteRange): number | undefined {
  const code = end - start <= 20 ? Number(decodeText(bytes, start, end)) : Number.NaN;
  return Number.isSafeInteger(code) ? code : undefined;
}
