// The content section of the policy, applied to a request for a model. What must not travel is replaced in the
// bytes; everything else stays as the client wrote it. A conversation repeats itself with every turn, so a part
// that was looked at before is known by its hash.
import {
  type ContentOutcome,
  type FullContentSection,
  isFailure,
  unscannedAction,
} from '@subluminal/contracts';
import {
  type Actions,
  applyActions,
  type FindingClass,
  type ScanOptions,
  scanJson,
  scanText,
  type Treated,
} from '@subluminal/core/detect';
import { rewritten } from '@subluminal/core/json';
import {
  type PartText,
  partTexts,
  type RequestOutline,
  type RequestPart,
  redactTexts,
} from '@subluminal/core/wires';
import { sha256Bytes } from '@subluminal/plane/crypto';

export interface ScannerOptions {
  readonly section: FullContentSection;
  /** Whether findings are acted on, or only tagged. */
  readonly isEnforced: boolean;
  readonly fingerprint: (text: string) => string;
}

export interface ScannedRequest {
  /** The same bytes when nothing was replaced. */
  readonly body: Buffer;
  readonly content: ContentOutcome | undefined;
  /** Why the request must not travel at all. */
  readonly refusal: string | undefined;
}

/** A part that was looked at: what is replaced in it, by its place in the part. */
interface ScannedPart {
  readonly replacements: readonly {
    readonly start: number;
    readonly end: number;
    readonly text: string;
  }[];
  readonly tags: readonly string[];
  readonly isUnread: boolean;
}

const PARTS_MAX = 4_096;
const FINDINGS_MAX = 100;
const CLASSES: readonly FindingClass[] = ['secret', 'personal', 'injection', 'hidden_text'];
const CLEAN: ScannedPart = { replacements: [], tags: [], isUnread: false };
const UNREAD: ScannedPart = { replacements: [], tags: ['unscanned:not_json'], isUnread: true };

export class RequestScanner {
  readonly #options: ScannerOptions;
  readonly #actions: Actions;
  readonly #scan: ScanOptions;
  readonly #isUnreadRefused: boolean;
  readonly #known = new Map<string, ScannedPart>();

  constructor(options: ScannerOptions) {
    const { section, fingerprint } = options;
    this.#options = options;
    this.#actions = actionsFor(section);
    const classes = CLASSES.filter((name) => this.#actions.outbound[name] !== 'allow');
    this.#scan = { fingerprint, classes };
    const unread = unscannedAction(section, 'outbound');
    this.#isUnreadRefused = unread === 'block' || unread === 'ask';
  }

  scan(body: Buffer, outline: RequestOutline): ScannedRequest {
    const replacements: { range: { start: number; end: number }; text: string }[] = [];
    const tags = new Set<string>();
    let isUnread = false;
    for (const part of outline.parts) {
      const scanned = this.#part(body, part);
      isUnread ||= scanned.isUnread;
      for (const tag of scanned.tags) tags.add(tag);
      for (const { start, end, text } of scanned.replacements) {
        const from = part.range.start;
        replacements.push({ range: { start: from + start, end: from + end }, text });
      }
    }
    if (tags.size === 0) return { body, content: undefined, refusal: undefined };
    const { isEnforced } = this.#options;
    const findings = [...tags].toSorted().slice(0, FINDINGS_MAX);
    if (!isEnforced) return { body, content: { action: 'tag', findings }, refusal: undefined };
    if (isUnread && this.#isUnreadRefused) {
      const refusal =
        'A part of the request is too large to look through, and the policy lets nothing pass unseen.';
      return { body, content: { action: 'block', findings }, refusal };
    }
    if (replacements.length === 0) {
      return { body, content: { action: 'tag', findings }, refusal: undefined };
    }
    const redacted = Buffer.from(redactTexts(body, replacements));
    return { body: redacted, content: { action: 'redact', findings }, refusal: undefined };
  }

  #part(body: Buffer, part: RequestPart): ScannedPart {
    const { start, end } = part.range;
    const key = sha256Bytes(body.subarray(start, end));
    const known = this.#known.get(key);
    if (known !== undefined) {
      // Used again, so it goes last.
      this.#known.delete(key);
      this.#known.set(key, known);
      return known;
    }
    const texts = partTexts(body, part);
    const scanned = isFailure(texts) ? UNREAD : this.#scanned(body, texts, start);
    this.#known.set(key, scanned);
    const [oldest] = this.#known.keys();
    if (this.#known.size > PARTS_MAX && oldest !== undefined) this.#known.delete(oldest);
    return scanned;
  }

  #scanned(body: Buffer, texts: readonly PartText[], from: number): ScannedPart {
    const replacements: { start: number; end: number; text: string }[] = [];
    const tags = new Set<string>();
    let isUnread = false;
    for (const { range, isJson } of texts) {
      const text = decoded(body, range);
      // A text that this reader can't take may be one that another reader can.
      if (text === undefined) return UNREAD;
      const treated = this.#treated(text, isJson);
      for (const tag of treated.tags) tags.add(tag);
      isUnread ||= treated.tags.some(
        (tag) => tag.startsWith('unscanned:') && !tag.includes('binary'),
      );
      if (treated.value !== text) {
        replacements.push({
          start: range.start - from,
          end: range.end - from,
          text: treated.value,
        });
      }
    }
    return tags.size === 0 ? CLEAN : { replacements, tags: [...tags], isUnread };
  }

  #treated(text: string, isJson: boolean): Treated<string> {
    const treatment = { direction: 'outbound', actions: this.#actions } as const;
    const value = isJson ? parsed(text) : undefined;
    if (value === undefined) return applyActions(text, scanText(text, this.#scan), treatment);
    const treated = applyActions(value, scanJson(value, this.#scan), treatment);
    if (treated.value === value) return { ...treated, value: text };
    // What is not replaced stays as the model wrote it.
    const changed = rewritten(text, treated.value) ?? JSON.stringify(treated.value);
    return { ...treated, value: changed };
  }
}

/**
 * Nobody can be asked about each turn of a conversation, and one that is refused is refused for ever: what the
 * policy would ask about or block is redacted, so that it stays here. Orders to a model are only tagged.
 */
function actionsFor(section: FullContentSection): Actions {
  const { outbound, inbound, confidence_min: confidenceMin } = section;
  const kept = (action: Actions['outbound']['secret']) =>
    action === 'ask' || action === 'block' ? 'redact' : action;
  const { secret, personal, hidden_text } = outbound;
  return {
    outbound: {
      secret: kept(secret),
      personal: kept(personal),
      hidden_text: kept(hidden_text),
      injection: outbound.injection === 'allow' && inbound.injection === 'allow' ? 'allow' : 'tag',
    },
    inbound,
    confidenceMin,
    blockConfidence: section.block_confidence,
    unscanned: 'tag',
  };
}

function decoded(body: Buffer, { start, end }: PartText['range']): string | undefined {
  const value = parsed(body.toString('utf8', start, end));
  return typeof value === 'string' ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
