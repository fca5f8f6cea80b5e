// The texts in a part of a request that a person, a tool or a model wrote: what is scanned and redacted. A block of
// a kind that is not known is searched whole, so that nothing new goes by unseen. A key that stands twice anywhere
// in a part is refused here, for whoever reads the part next: of two members, readers see one, and not the same.
import { type Failure, tableFailure } from '@subluminal/contracts';
import { type ByteRange, ByteScanner } from '../json/byte-scanner.ts';
import { foldKey } from '../json/fold-key.ts';
import { decodeText } from '../json/text.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json/units.ts';
import type { RequestPart } from './outline.ts';

/** A text in a part that a person, a tool or a model wrote. */
export interface PartText {
  readonly role:
    | 'system'
    | 'user'
    | 'assistant'
    | 'tool_use'
    | 'tool_result'
    | 'tool_definition'
    | 'other';
  /** The JSON value: for a string, quotes included. */
  readonly range: ByteRange;
  /**
   * `text`: a string. `json_text`: a string with JSON in it, which must stay JSON (`arguments` of a function call).
   * `json`: an object or a list whose keys tell what its strings are (`input` of a tool).
   */
  readonly form: 'text' | 'json_text' | 'json';
}

type Role = PartText['role'];

/** What the roles of messages stand for, on any wire. */
export const ROLES: ReadonlyMap<string, 'system' | 'user' | 'assistant' | 'tool_result'> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool_result'],
  ['function', 'tool_result'],
]);

/** Members that hold what nobody can read: sealed by the provider, or the bytes of a file. */
const OPAQUE: ReadonlySet<string> = new Set([
  'encrypted_content',
  'encrypted_index',
  'encrypted_stdout',
  'file_data',
  'input_audio',
  'signature',
]);

/** Members of messages, blocks and tools that hold names and marks of the protocol. */
const NAMES: ReadonlySet<string> = new Set([
  'call_id',
  'detail',
  'file_id',
  'id',
  'media_type',
  'name',
  'namespace',
  'role',
  'status',
  'tool_call_id',
  'tool_use_id',
  'toolset_name',
  'type',
]);
/** With the quotes. No secret is as short, so shorter names and keys are not looked at. */
const NAME_BYTES_MIN = 20;

/** The provider has sealed these itself, and gets them back unchanged. */
const SEALED: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking']);
const DATA_URL = /^"data:/i;
const DATA_URL_BYTES = 6;
/** Blocks nest no deeper; what does is searched whole, in one walk. */
const BLOCK_DEPTH_MAX = 12;
/** The arguments of a tool, by the names that the wires have for them. */
const ARGUMENTS: ReadonlySet<string> = new Set(['input', 'arguments', 'action']);
/** More strings than any part has: each is scanned on its own. */
const TEXTS_MAX = 100_000;

/** The texts of one part, in their order; `outlineRequest` has found the part. */
export function partTexts(bytes: Uint8Array, part: RequestPart): readonly PartText[] | Failure {
  const search = new TextSearch(bytes, part.range.start);
  if (search.readPart(part)) return search.texts;
  return tableFailure('SUB_WIRE_REQUEST', search.fault);
}

interface BlockMember {
  readonly key: string;
  readonly keyRange: ByteRange;
  /** Where the value starts. */
  readonly at: number;
}

class TextSearch {
  readonly texts: PartText[] = [];
  readonly scan: ByteScanner;
  private isTwice = false;
  private blockDepth = 0;

  constructor(bytes: Uint8Array, at: number) {
    // The outline has found the bytes to be UTF-8.
    this.scan = new ByteScanner(bytes, true);
    this.scan.at = at;
  }

  get fault(): string {
    if (this.isTwice) return 'It has a key twice.';
    if (this.texts.length === TEXTS_MAX) return `A part has more than ${TEXTS_MAX} texts.`;
    return `It is not valid JSON at byte ${this.scan.offset}.`;
  }

  readPart({ kind, range }: RequestPart): boolean {
    if (!this.checkKeys()) return false;
    this.scan.at = range.start;
    switch (kind) {
      case 'tool':
        return this.readTool();
      case 'other':
        return this.readJson('other');
      default:
        return this.readBlock(kind === 'system' ? 'system' : 'user');
    }
  }

  /** Walks over the value here, and fails when an object in it has a key twice, however it is written. */
  private checkKeys(): boolean {
    const { scan } = this;
    switch (scan.next()) {
      case OPEN_BRACKET:
        return this.readItems(() => this.checkKeys());
      case OPEN_BRACE: {
        const keys = new Set<string>();
        return this.readMembers((start) => {
          const key = this.keyAt(start);
          this.isTwice = keys.has(key);
          keys.add(key);
          return !this.isTwice && scan.passColon() && this.checkKeys();
        });
      }
      default:
        return scan.skipValue(0);
    }
  }

  /** The text of the key that was just read. */
  private keyAt(start: number): string {
    const { bytes, at, escaped } = this.scan;
    if (!escaped) return decodeText(bytes, start + 1, at - 1);
    return String(JSON.parse(decodeText(bytes, start, at)));
  }

  /** Everything in the definition of a tool. */
  private readTool(): boolean {
    const { scan } = this;
    if (scan.next() !== OPEN_BRACE) return this.readAll('tool_definition');
    const members = this.membersHere();
    if (members === undefined) return false;
    const end = scan.at;
    const isRead = members.every(({ key, keyRange, at }) => {
      if (!this.noteName('tool_definition', keyRange)) return false;
      scan.at = at;
      const isName = scan.bytes[at] === QUOTE && NAMES.has(key);
      return isName ? this.readName('tool_definition') : this.readAll('tool_definition');
    });
    scan.at = end;
    return isRead;
  }

  /** A message, a block, or what stands inside of one. */
  private readBlock(role: Role): boolean {
    const { scan } = this;
    switch (scan.next()) {
      case QUOTE:
        return this.readString(role, 'text');
      case OPEN_BRACKET:
        return this.readItems(() => this.readBlock(role));
      case OPEN_BRACE:
        return this.blockDepth < BLOCK_DEPTH_MAX ? this.readObject(role) : this.readJson(role);
      default:
        return scan.skipValue(0);
    }
  }

  private readObject(outer: Role): boolean {
    const { scan } = this;
    const members = this.membersHere();
    if (members === undefined) return false;
    const end = scan.at;
    const type = this.textOf(members, 'type');
    const isSealed =
      SEALED.has(type) ||
      (type === 'reasoning' && this.textOf(members, 'encrypted_content') !== '');
    const role = roleOfType(type) ?? ROLES.get(this.textOf(members, 'role')) ?? outer;
    this.blockDepth++;
    const isRead = isSealed || members.every((member) => this.readMember(member, type, role));
    this.blockDepth--;
    scan.at = end;
    return isRead;
  }

  private readMember({ key, keyRange, at }: BlockMember, type: string, role: Role): boolean {
    const { scan } = this;
    if (!this.noteName(role, keyRange)) return false;
    // Base64, which no scanner reads.
    if (OPAQUE.has(key) || (key === 'data' && type === 'base64')) return true;
    scan.at = at;
    const isString = scan.bytes[at] === QUOTE;
    if (isString && NAMES.has(key)) return this.readName(role);
    if (isString && key.endsWith('url') && this.isDataUrl(at)) return true;
    if (key === 'arguments' && isString) return this.readString('tool_use', 'json_text');
    if (ARGUMENTS.has(key) && role === 'tool_use') return this.readJson('tool_use');
    return this.readBlock(key === 'tool_calls' || key === 'function_call' ? 'tool_use' : role);
  }

  /** A value whose keys tell what its strings are; it is looked at as a whole. */
  private readJson(role: Role): boolean {
    const { scan } = this;
    const byte = scan.next();
    if (byte === QUOTE) return this.readString(role, 'text');
    const start = scan.at;
    if (!scan.skipValue(0)) return false;
    if (byte !== OPEN_BRACE && byte !== OPEN_BRACKET) return true;
    return this.note({ role, range: { start, end: scan.at }, form: 'json' });
  }

  /** Every string of a value, whatever it stands for. */
  private readAll(role: Role): boolean {
    const { scan } = this;
    switch (scan.next()) {
      case QUOTE:
        return this.readString(role, 'text');
      case OPEN_BRACKET:
        return this.readItems(() => this.readAll(role));
      case OPEN_BRACE:
        return this.readMembers((start) => {
          const isNoted = this.noteName(role, { start, end: scan.at });
          return isNoted && scan.passColon() && this.readAll(role);
        });
      default:
        return scan.skipValue(0);
    }
  }

  private readName(role: Role): boolean {
    const { scan } = this;
    const start = scan.at;
    return scan.readString() && this.noteName(role, { start, end: scan.at });
  }

  /** A key or a name: mostly a word of the protocol, which says nothing. */
  private noteName(role: Role, range: ByteRange): boolean {
    return range.end - range.start < NAME_BYTES_MIN || this.note({ role, range, form: 'text' });
  }

  private readString(role: Role, form: 'text' | 'json_text'): boolean {
    const { scan } = this;
    const start = scan.at;
    return scan.readString() && this.note({ role, range: { start, end: scan.at }, form });
  }

  private note(text: PartText): boolean {
    if (this.texts.length === TEXTS_MAX) return false;
    this.texts.push(text);
    return true;
  }

  /** The members of the object that starts here; undefined when a key stands twice in it. */
  private membersHere(): readonly BlockMember[] | undefined {
    const { scan } = this;
    const members: BlockMember[] = [];
    const keys = new Set<string>();
    const isRead = this.readMembers((start) => {
      const key = this.keyAt(start);
      const keyRange = { start, end: scan.at };
      if (!scan.passColon()) return false;
      // Some readers ignore case: for them, `Type` and `type` are one key.
      const folded = foldKey(key);
      this.isTwice = keys.has(folded);
      keys.add(folded);
      members.push({ key, keyRange, at: scan.at });
      return !this.isTwice && scan.skipValue(0);
    });
    return isRead ? members : undefined;
  }

  /** Reads members from an opening brace on; `read` starts behind a key, and gets where the key starts. */
  private readMembers(read: (keyStart: number) => boolean): boolean {
    const { scan } = this;
    scan.pass();
    if (scan.next() === CLOSE_BRACE) return scan.pass();
    for (;;) {
      const start = scan.readKey();
      if (start === -1 || !read(start)) return false;
      const byte = scan.next();
      if (byte === CLOSE_BRACE) return scan.pass();
      if (!scan.passComma(byte)) return false;
    }
  }

  private readItems(read: () => boolean): boolean {
    const { scan } = this;
    scan.pass();
    if (scan.next() === CLOSE_BRACKET) return scan.pass();
    for (;;) {
      if (!read()) return false;
      const byte = scan.next();
      if (byte === CLOSE_BRACKET) return scan.pass();
      if (!scan.passComma(byte)) return false;
    }
  }

  /** The short text of a member; empty without it. */
  private textOf(members: readonly BlockMember[], key: string): string {
    const { scan } = this;
    const member = members.find((one) => one.key === key);
    if (member === undefined || scan.bytes[member.at] !== QUOTE) return '';
    scan.at = member.at;
    return scan.readString() ? decodeText(scan.bytes, member.at + 1, scan.at - 1) : '';
  }

  private isDataUrl(at: number): boolean {
    return DATA_URL.test(decodeText(this.scan.bytes, at, at + DATA_URL_BYTES));
  }
}

/** The role that a kind of block has, whoever sends the message around it. */
function roleOfType(type: string): Role | undefined {
  if (type.endsWith('tool_result') || type.endsWith('_output')) return 'tool_result';
  return type.endsWith('tool_use') || type.endsWith('_call') ? 'tool_use' : undefined;
}
