// Looks for secrets and personal data in what a request says. Each request repeats the conversation: a part that was
// looked through before is not scanned again. It is known by its place in the request before, or else by its hash.
import { hash } from 'node:crypto';
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import { type MessageSignals, messageSignals } from '@subluminal/core/classify';
import { detached } from '@subluminal/core/detached';
import {
  type Action,
  type Actions,
  actionFor,
  applyActions,
  type ContentFinding,
  type FindingClass,
  type ScanOptions,
  type ScanVerdict,
  scanJson,
  scanText,
  type UnscannedReason,
} from '@subluminal/core/detect';
import { canonicalize, rewritten } from '@subluminal/core/json';
import {
  type PartText,
  partTexts,
  type RequestOutline,
  type RequestPart,
  redactTexts,
  type TextReplacement,
} from '@subluminal/core/wires';
import { GenerationCache, type SizedValue } from './generation-cache.ts';
import { replaceCopies } from './replace-copies.ts';

export interface InspectorOptions {
  /** A keyed hash in hexadecimal: the same value has the same mark, and none can be guessed from it. */
  readonly fingerprint: (text: string) => string;
  /** What is looked for. */
  readonly classes: readonly FindingClass[];
  /** What a redaction takes out, when it is sure enough. */
  readonly actions: Actions;
  /** Takes false alarms out of what was found in a text. */
  readonly silence?: (verdict: ScanVerdict) => ScanVerdict;
}

export interface TurnFinding {
  readonly class: FindingClass;
  readonly rule: string;
  readonly confidence: ContentFinding['confidence'];
  readonly fingerprint: string;
  readonly role: PartText['role'];
  /** What the actions do about it. */
  readonly action: Action;
  /** The text that it stands in, by its place in the body. */
  readonly range: PartText['range'];
}

export interface Inspection {
  /** Each kind of value once for each text that it stands in. */
  readonly findings: readonly TurnFinding[];
  /** Why something was not looked at; files without text don't count. */
  readonly unscanned: readonly UnscannedReason[];
  /** Parts that were not known before. */
  readonly scannedParts: number;
  /** What the messages tell about the task since the last words of the user, in their order; for the tagger. */
  signals(): readonly MessageSignals[];
  /** The request without what the actions take out; the same bytes when there is nothing. */
  redacted(): Buffer;
}

interface InspectedRequest {
  readonly body: Buffer;
  readonly outline: RequestOutline;
  /** Asked before each part that is not known. What was looked through until then is known the next time. */
  readonly isOverdue?: () => boolean;
}

interface InspectedPart {
  readonly findings: readonly TurnFinding[];
  readonly unscanned: readonly UnscannedReason[];
  /** What takes the place of what is taken out; places count from the start of the part. */
  readonly replacements: readonly TextReplacement[];
  /** What was taken out and may stand elsewhere, where nothing around it gives it away. */
  readonly secrets: readonly { readonly value: string; readonly mark: string }[];
}

/** A part that was looked through: it is known by its hash, or by its place in a request that goes on. */
interface KnownPart extends SizedValue {
  readonly found: InspectedPart;
  /** Worked out when somebody asks. */
  signals: MessageSignals | undefined;
  bytes: number;
}

/** The parts of one request that were scanned, and whether there is time for more. */
interface PartTally {
  scannedParts: number;
  readonly isOverdue: InspectedRequest['isOverdue'];
}

const NOTHING_SHARED = { first: 0, last: 0 } as const;
const CLEAN: InspectedPart = { findings: [], unscanned: [], replacements: [], secrets: [] };
/** A body has a limit of its own: nothing in it is too long to be looked at. */
const LIMITS = { unitsMax: 1 << 26, depthMax: 512, nodesMax: 1 << 20 };
/** Some 32,000 parts. They are for a conversation that goes back, and for what conversations have in common. */
const PARTS_BYTES_MAX = 16 << 20;
/** What a part takes with its key, when nothing was found in it. */
const PART_BYTES = 512;
const FINDING_BYTES = 256;
/** Shorter values would take words apart that have nothing to do with them. */
const COPY_LENGTH_MIN = 8;
const COPY_LENGTH_MAX = 4_096;
const COPIES_MAX = 64;
const MARK_DIGITS = 8;
/** The last messages tell what a turn is about. */
const SIGNALS_MAX = 64;

export class TurnInspector {
  readonly #options: InspectorOptions;
  readonly #scan: ScanOptions;
  readonly #known = new GenerationCache<KnownPart>(PARTS_BYTES_MAX);
  /** What was found in the parts of a request that is remembered. */
  readonly #requests = new WeakMap<readonly RequestPart[], readonly KnownPart[]>();

  constructor(options: InspectorOptions) {
    this.#options = options;
    const { fingerprint, classes } = options;
    this.#scan = { fingerprint, classes, limits: LIMITS };
  }

  /** Fails for a request that another reader may read otherwise: a key stands twice, a string is none. */
  inspect({ body, outline, isOverdue }: InspectedRequest): Inspection | Failure {
    const dirty: { readonly start: number; readonly part: InspectedPart }[] = [];
    const tally: PartTally = { scannedParts: 0, isOverdue };
    const known = this.#knownParts(body, outline, tally);
    if (isFailure(known)) return known;
    outline.parts.forEach(({ range }, index) => {
      const part = known[index]?.found;
      if (part === undefined) throw new Error('a part that nobody looked at');
      if (part !== CLEAN) dirty.push({ start: range.start, part });
    });
    return {
      findings: dirty.flatMap(({ start, part }) =>
        part.findings.map((one) => ({ ...one, range: movedRange(one.range, start) })),
      ),
      unscanned: [...new Set(dirty.flatMap(({ part }) => part.unscanned))],
      scannedParts: tally.scannedParts,
      signals: () => this.#lastSignals(body, outline, known),
      redacted() {
        const replacements = dirty.flatMap(({ start, part }) =>
          part.replacements.map((one) => moved(one, start)),
        );
        if (replacements.length === 0) return body;
        const secrets = new Map(
          dirty.flatMap(({ part }) =>
            part.secrets.map(({ value, mark }) => [value, mark] as const),
          ),
        );
        return replaceCopies(Buffer.from(redactTexts(body, replacements)), secrets);
      },
    };
  }

  /** What the request has in common with the one before it is known without a look at its bytes. */
  #knownParts(
    body: Buffer,
    { parts, grownFrom }: RequestOutline,
    tally: PartTally,
  ): readonly KnownPart[] | Failure {
    const before = grownFrom && this.#requests.get(grownFrom.parts);
    const { first, last } = (before && grownFrom) ?? NOTHING_SHARED;
    const added = this.#inspectParts(body, parts.slice(first, parts.length - last), tally);
    if (isFailure(added)) return added;
    const known =
      before === undefined
        ? added
        : [...before.slice(0, first), ...added, ...before.slice(before.length - last)];
    // Whoever remembers the request counts its bytes and parts: what was found may take no more than that.
    const bytes = known.reduce((sum, part) => sum + part.bytes, 0);
    if (bytes <= body.length + parts.length * PART_BYTES) this.#requests.set(parts, known);
    return known;
  }

  #lastSignals(
    body: Buffer,
    { parts }: RequestOutline,
    all: readonly KnownPart[],
  ): readonly MessageSignals[] {
    const found: MessageSignals[] = [];
    for (let index = parts.length - 1; index >= 0 && found.length < SIGNALS_MAX; index--) {
      const part = parts[index];
      const known = all[index];
      if (part?.kind !== 'message' || known === undefined) continue;
      const { start, end } = part.range;
      known.signals ??= this.#signals(known, body.toString('utf8', start, end));
      found.push(known.signals);
      if (known.signals.hasUserWords) break;
    }
    return found.toReversed();
  }

  #signals(known: KnownPart, json: string): MessageSignals {
    const signals = messageSignals(json);
    const bytes = signals.paths.reduce((sum, path) => sum + path.length, 0);
    known.bytes += bytes;
    this.#known.grow(bytes);
    return signals;
  }

  #inspectParts(
    body: Buffer,
    parts: readonly RequestPart[],
    tally: PartTally,
  ): readonly KnownPart[] | Failure {
    const all: KnownPart[] = [];
    for (const { kind, range } of parts) {
      const bytes = body.subarray(range.start, range.end);
      const key = kind + hash('sha256', bytes, 'base64');
      let known = this.#known.get(key);
      if (known === undefined) {
        if (tally.isOverdue?.() === true) return tableFailure('SUB_PROXY_SCAN');
        const found = this.#inspectPart(bytes, kind);
        if (isFailure(found)) return found;
        known = { found, signals: undefined, bytes: bytesOf(found) };
        tally.scannedParts++;
        this.#known.put(key, known);
      }
      all.push(known);
    }
    return all;
  }

  #inspectPart(bytes: Buffer, kind: RequestPart['kind']): InspectedPart | Failure {
    const texts = partTexts(bytes, { kind, range: { start: 0, end: bytes.length } });
    if (isFailure(texts)) return texts;
    const parts = texts
      .map((text) => this.#inspectText(bytes, text))
      .filter((one) => one !== CLEAN);
    if (parts.length === 0) return CLEAN;
    return {
      findings: parts.flatMap(({ findings }) => findings),
      unscanned: parts.flatMap(({ unscanned }) => unscanned),
      replacements: parts.flatMap(({ replacements }) => replacements),
      secrets: parts.flatMap(({ secrets }) => secrets).slice(0, COPIES_MAX),
    };
  }

  #inspectText(bytes: Buffer, { range, role, form }: PartText): InspectedPart {
    const raw = bytes.toString('utf8', range.start, range.end);
    const { text, value } = readText(raw, form);
    const seen =
      typeof value === 'string' ? scanText(value, this.#scan) : scanJson(value, this.#scan);
    const { actions, silence } = this.#options;
    const verdict = silence === undefined ? seen : silence(seen);
    const unscanned = verdict.unscanned
      .map(({ reason }) => reason)
      .filter((reason) => reason !== 'binary');
    if (verdict.findings.length === 0 && unscanned.length === 0) return CLEAN;
    const findings = verdict.findings.map((finding) => ({
      class: finding.class,
      rule: finding.rule,
      confidence: finding.confidence,
      fingerprint: finding.fingerprint,
      role,
      range,
      action: actionFor(finding, { direction: 'outbound', actions }),
    }));
    return {
      findings,
      unscanned,
      ...this.#redaction({ bytes, text, value, verdict, range, form }),
    };
  }

  #redaction(found: FoundIn): Pick<InspectedPart, 'replacements' | 'secrets'> {
    const { bytes, text, value, verdict, range, form } = found;
    const secrets = new Map<string, string>();
    const treated = applyActions(value, verdict, {
      direction: 'outbound',
      actions: this.#options.actions,
      mark(finding, original) {
        const mark = markOf(finding);
        const { length } = original;
        const isCopied = finding.class === 'secret' && length >= COPY_LENGTH_MIN;
        if (isCopied && length <= COPY_LENGTH_MAX) secrets.set(detached(original), mark);
        return mark;
      },
    });
    if (treated.value === value) return { replacements: [], secrets: [] };
    // What is not replaced in JSON stays as it was written.
    const changed =
      typeof value === 'string'
        ? String(treated.value)
        : (rewritten(text, treated.value) ?? JSON.stringify(treated.value));
    const json = form === 'json' ? changed : JSON.stringify(changed);
    return {
      replacements: [changedStretch(bytes, { range, json })],
      secrets: [...secrets].map(([original, mark]) => ({ value: original, mark })),
    };
  }
}

interface FoundIn {
  readonly bytes: Buffer;
  readonly text: string;
  readonly value: unknown;
  readonly verdict: ScanVerdict;
  readonly range: PartText['range'];
  readonly form: PartText['form'];
}

/** The same replacement without what it leaves as it is: a long text is not kept for a short secret in it. */
function changedStretch(bytes: Buffer, { range, json }: TextReplacement): TextReplacement {
  const before = bytes.subarray(range.start, range.end);
  const after = Buffer.from(json);
  const most = Math.min(before.length, after.length);
  let first = 0;
  while (first < most && before[first] === after[first]) first++;
  while (first > 0 && isInsideChar(after[first])) first--;
  let last = 0;
  while (last < most - first && before.at(-1 - last) === after.at(-1 - last)) last++;
  while (last > 0 && isInsideChar(after.at(-last))) last--;
  return {
    range: { start: range.start + first, end: range.end - last },
    json: after.toString('utf8', first, after.length - last),
  };
}

/** Whether the byte goes on with a character of UTF-8. */
function isInsideChar(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function moved({ range, json }: TextReplacement, by: number): TextReplacement {
  return { range: movedRange(range, by), json };
}

function movedRange({ start, end }: PartText['range'], by: number): PartText['range'] {
  return { start: start + by, end: end + by };
}

/** Like `[REDACTED-AWS-ACCESS-KEY-1A2B3C4D]`. */
function markOf({ rule, fingerprint }: ContentFinding): string {
  return `[REDACTED-${rule.toUpperCase()}-${fingerprint.slice(0, MARK_DIGITS).toUpperCase()}]`;
}

function bytesOf({ findings, replacements, secrets }: InspectedPart): number {
  const taken = secrets.reduce((sum, { value }) => sum + value.length, 0);
  const replaced = replacements.reduce((sum, { json }) => sum + json.length, 0);
  return PART_BYTES + FINDING_BYTES * findings.length + taken + replaced;
}

/** What a text says, and the JSON in it. `partTexts` has found `raw` to be JSON without a key that stands twice. */
function readText(raw: string, form: PartText['form']): { readonly text: string; value: unknown } {
  if (form === 'json') return { text: raw, value: JSON.parse(raw) };
  const text = String(JSON.parse(raw));
  // A model may write what is no JSON, or has a key twice: then nothing in it may be left out.
  const isJson = form === 'json_text' && canonicalize(text).ok;
  const value: unknown = isJson ? JSON.parse(text) : text;
  return { text, value: typeof value === 'object' && value !== null ? value : text };
}
