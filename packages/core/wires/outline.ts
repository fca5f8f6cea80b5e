// What is known of a request without parsing it: where its parts stand in the bytes. Most of a request has been
// seen before, since each one repeats the conversation; a part is walked through only when it is new.
import { type Failure, tableFailure } from '@subluminal/contracts';
import type { ByteRange } from '../json/byte-scanner.ts';
import { foldKey } from '../json/fold-key.ts';
import { fromUnits, sequenceEnd } from '../json/text.ts';
import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json/units.ts';
import { JsonWalk } from './json-walk.ts';
import { type MemberRole, REQUEST_MEMBERS } from './request-members.ts';
import type { WireName } from './shared/form.ts';
import { lastSpeaker } from './speaker.ts';

export interface RequestOutline {
  readonly wire: WireName;
  readonly model: string;
  /** The JSON string of the model, quotes included. */
  readonly modelRange: ByteRange;
  readonly isStream: boolean;
  readonly maxTokens?: number;
  /** How many answers a chat asks for at once, when it says so. */
  readonly choices?: number;
  /** The client says itself what its stream should tell. */
  readonly hasStreamOptions?: true;
  /** The units that a conversation grows by, in their order. */
  readonly parts: readonly RequestPart[];
  readonly toolNames: readonly string[];
  /** Whether results of tools stand after the last words of the user: the agent is in its loop. */
  readonly isContinuation: boolean;
  readonly grownFrom?: SharedParts;
}

/** The parts of an earlier request, and how many at its start and at its end have the same bytes in this one. */
export interface SharedParts {
  readonly parts: readonly RequestPart[];
  readonly first: number;
  readonly last: number;
}

export interface RequestPart {
  /** `other`: a member at the top that is none of the conversation, and may hold words of a user. */
  readonly kind: 'system' | 'tool' | 'message' | 'other';
  readonly range: ByteRange;
}

/** What a platform does faster than plain code can. */
export interface ByteTools {
  readonly isUtf8: (bytes: Uint8Array) => boolean;
  /** One character for each byte. */
  readonly latin1: (bytes: Uint8Array) => string;
  readonly isEqual: (one: Uint8Array, other: Uint8Array) => boolean;
}

type ScalarRole = Extract<MemberRole, 'stream' | 'max_tokens' | 'choices' | 'background'>;

/** More parts than any conversation has: each is hashed and kept. */
export const PARTS_MAX = 100_000;
/** Longer than any model is named: the name stands in each record of the turn. */
const MODEL_LENGTH_MAX = 256;
const CHUNK_BYTES = 8_192;

const PLAIN_TOOLS: ByteTools = {
  isUtf8(bytes) {
    let at = 0;
    while (at < bytes.length && at !== -1) {
      at = (bytes[at] ?? 0) < 0x80 ? at + 1 : sequenceEnd(bytes, at);
    }
    return at !== -1;
  },
  latin1(bytes) {
    let text = '';
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      text += fromUnits(bytes.subarray(at, at + CHUNK_BYTES));
    }
    return text;
  },
  isEqual: (one, other) =>
    one.length === other.length && one.every((byte, at) => byte === other[at]),
};

/** Finds the parts of a request in one walk over its bytes. */
export function outlineRequest(
  wire: WireName,
  bytes: Uint8Array,
  tools: ByteTools = PLAIN_TOOLS,
): RequestOutline | Failure {
  if (!tools.isUtf8(bytes)) return invalid('It is not valid UTF-8.');
  const outlining = new Outlining(wire, new JsonWalk(bytes, tools.latin1(bytes)));
  return outlining.read() ?? invalid(outlining.fault);
}

function invalid(fault: string): Failure {
  return tableFailure('SUB_WIRE_REQUEST', fault);
}

class Outlining {
  private readonly walk: JsonWalk;
  private readonly wire: WireName;
  private model: { readonly text: string; readonly range: ByteRange } | undefined;
  private isStream = false;
  private maxTokens: number | undefined;
  private choices: number | undefined;
  private hasStreamOptions = false;
  private readonly parts: RequestPart[] = [];
  private readonly toolNames: string[] = [];

  constructor(wire: WireName, walk: JsonWalk) {
    this.wire = wire;
    this.walk = walk;
  }

  get fault(): string {
    return this.walk.fault ?? 'It is not valid JSON.';
  }

  read(): RequestOutline | undefined {
    const { walk, wire } = this;
    if (walk.next() !== OPEN_BRACE) return this.refuse('It is not a JSON object.');
    const known = REQUEST_MEMBERS[wire];
    const isRead = walk.members(0, (key) => {
      const role = known.get(key);
      const folded = role === undefined ? foldKey(key) : key;
      // Some readers ignore case: they would take this member for the other one.
      if (folded !== key && known.has(folded)) return walk.fail(`It has a misspelt "${folded}".`);
      return this.readMember(key, role);
    });
    if (!isRead) return undefined;
    if (!Number.isNaN(walk.next())) return this.refuse('Something follows its end.');
    if (this.model === undefined) return this.refuse('It has no "model".');
    const { maxTokens, choices } = this;
    const speaker = lastSpeaker(this.parts, ({ range }) => walk.from(range.start));
    if (speaker === undefined) return undefined;
    return {
      wire,
      model: this.model.text,
      modelRange: this.model.range,
      isStream: this.isStream,
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(choices === undefined ? {} : { choices }),
      ...(this.hasStreamOptions ? { hasStreamOptions: true } : {}),
      parts: this.parts,
      toolNames: this.toolNames,
      isContinuation: speaker === 'tool',
    };
  }

  private refuse(fault: string): undefined {
    this.walk.fail(fault);
  }

  private readMember(key: string, role: MemberRole | undefined): boolean {
    const { walk } = this;
    switch (role) {
      case undefined:
        return this.readOther(true);
      case 'protocol':
        return walk.skip(1);
      case 'user_metadata':
        return this.readUserMetadata();
      case 'model':
        return this.readModel();
      case 'stream_options':
        this.hasStreamOptions = true;
        return walk.skip(1);
      case 'stream':
      case 'max_tokens':
      case 'choices':
      case 'background':
        return this.readScalar(key, role);
      default:
        return this.readParts(key, role);
    }
  }

  /** A member that is a part of its own, unless it is a number or a word that says nothing. */
  private readOther(isPart: boolean): boolean {
    const { walk } = this;
    const start = walk.at;
    const unit = walk.text.charCodeAt(start);
    if (!walk.skip(1)) return false;
    if (!isPart || (unit !== OPEN_BRACE && unit !== OPEN_BRACKET && unit !== QUOTE)) return true;
    return this.addPart({ kind: 'other', range: { start, end: walk.at } });
  }

  /** Clients write ids of theirs into `user_id`, which must arrive as they are. */
  private readUserMetadata(): boolean {
    const { walk } = this;
    const start = walk.at;
    if (walk.text.charCodeAt(start) !== OPEN_BRACE) return this.readOther(true);
    let isUserOnly = true;
    const isRead = walk.members(1, (key) => {
      const isText = walk.text.charCodeAt(walk.at) === QUOTE;
      isUserOnly &&= key === 'user_id' && isText;
      return walk.skip(2);
    });
    walk.at = start;
    return isRead && this.readOther(!isUserOnly);
  }

  private addPart(part: RequestPart): boolean {
    const { walk, parts } = this;
    if (parts.length === PARTS_MAX) return walk.fail(`It has more than ${PARTS_MAX} parts.`);
    parts.push(part);
    return true;
  }

  private readModel(): boolean {
    const { walk } = this;
    const start = walk.at;
    const text = walk.readString(1);
    if (text === undefined || text === '') return walk.fail('Its "model" is not a name.');
    if (text.length > MODEL_LENGTH_MAX) return walk.fail('Its "model" is too long for a name.');
    this.model = { text, range: { start, end: walk.at } };
    return true;
  }

  private readScalar(key: string, field: ScalarRole): boolean {
    const { walk } = this;
    const start = walk.at;
    if (!walk.skip(1)) return false;
    const written = walk.text.slice(start, walk.at);
    if (written === 'null') return true;
    if (field === 'stream') {
      this.isStream = written === 'true';
      return this.isStream || written === 'false' || walk.fail(`Its "${key}" is not a boolean.`);
    }
    if (field === 'background') {
      // It would be fetched where nobody counts what it cost.
      return written === 'false' || walk.fail('It asks for an answer in the background.');
    }
    const count = /^\d+$/.test(written) ? Number(written) : Number.NaN;
    if (!Number.isSafeInteger(count)) return walk.fail(`Its "${key}" is not a whole number.`);
    if (field === 'choices') this.choices = count;
    // Chat Completions has two names for it; the larger bound is the safe one.
    else this.maxTokens = Math.max(this.maxTokens ?? 0, count);
    return true;
  }

  /** A list of parts, or one part that is a text or an object. */
  private readParts(key: string, kind: RequestPart['kind']): boolean {
    const { walk } = this;
    const unit = walk.text.charCodeAt(walk.at);
    if (unit === OPEN_BRACKET) return walk.items(1, () => this.readPart(key, kind));
    if (unit === QUOTE || unit === OPEN_BRACE) return this.readPart(key, kind);
    if (!walk.skip(1)) return false;
    return walk.text.endsWith('null', walk.at) || walk.fail(`Its "${key}" is not a list.`);
  }

  private readPart(key: string, kind: RequestPart['kind']): boolean {
    const { walk } = this;
    const start = walk.at;
    const unit = walk.text.charCodeAt(start);
    if (unit !== OPEN_BRACE && unit !== QUOTE) return walk.fail(`A part of "${key}" is no object.`);
    const isRead = kind === 'tool' && unit === OPEN_BRACE ? this.readTool('', 2) : walk.skip(2);
    return isRead && this.addPart({ kind, range: { start, end: walk.at } });
  }

  /** Notes the name of a tool: its own, that of its function, or its type where the provider runs it. */
  private readTool(prefix: string, depth: number): boolean {
    const { walk, toolNames } = this;
    let name: string | undefined;
    let type: string | undefined;
    const inner: number[] = [];
    const isRead = walk.members(depth, (key) => {
      const unit = walk.text.charCodeAt(walk.at);
      if (key === 'name') name = walk.readString(depth + 1);
      else if (key === 'type') type = walk.readString(depth + 1);
      else if (isDefinition(key) && unit === OPEN_BRACE) name = this.readName(depth + 1);
      else {
        if (key === 'tools' && unit === OPEN_BRACKET && prefix === '') inner.push(walk.at);
        return walk.skip(depth + 1);
      }
      return walk.fault === undefined;
    });
    if (!isRead) return false;
    const [group] = inner;
    const known = name ?? type;
    if (group === undefined) {
      if (known !== undefined) toolNames.push(prefix + known);
      return true;
    }
    const end = walk.at;
    walk.at = group;
    const isGroup = walk.items(depth + 1, () =>
      walk.text.charCodeAt(walk.at) === OPEN_BRACE
        ? this.readTool(`${known ?? ''}.`, depth + 2)
        : walk.skip(depth + 2),
    );
    walk.at = end;
    return isGroup;
  }

  private readName(depth: number): string | undefined {
    const { walk } = this;
    let name: string | undefined;
    const isRead = walk.members(depth, (key) => {
      if (key !== 'name') return walk.skip(depth + 1);
      name = walk.readString(depth + 1);
      return walk.fault === undefined;
    });
    return isRead ? name : undefined;
  }
}

function isDefinition(key: string): boolean {
  return key === 'function' || key === 'custom';
}
