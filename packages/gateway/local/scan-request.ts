// The content section of the policy, in the words of a turn: what the inspector finds is replaced in the request,
// told, or keeps the request from travelling.
import {
  type ContentOutcome,
  type FullContentSection,
  isFailure,
  unscannedAction,
} from '@subluminal/contracts';
import {
  type Actions,
  type FindingClass,
  type ScanVerdict,
  type SuppressedPlace,
  suppress,
} from '@subluminal/core/detect';
import type { RequestOutline } from '@subluminal/core/wires';
import { type Inspection, type InspectorOptions, TurnInspector } from '../inspect/index.ts';

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

const FINDINGS_MAX = 100;
/** Each keeps what it has looked through. */
const SILENCED_MAX = 4;
const CLASSES: readonly FindingClass[] = ['secret', 'personal', 'injection', 'hidden_text'];
const UNREADABLE = ['unscanned:not_json'];
const UNSEEN =
  'A part of the request could not be looked through, and the policy lets nothing pass unseen.';

export class RequestScanner {
  readonly #isEnforced: boolean;
  readonly #isUnseenRefused: boolean;
  readonly #suppressions: FullContentSection['suppressions'];
  readonly #options: InspectorOptions;
  readonly #inspector: TurnInspector;
  /** For the models that have suppressions, by what is silenced. */
  readonly #silenced = new Map<string, TurnInspector>();

  constructor({ section, isEnforced, fingerprint }: ScannerOptions) {
    this.#isEnforced = isEnforced;
    const unseen = unscannedAction(section, 'outbound');
    this.#isUnseenRefused = unseen === 'block' || unseen === 'ask';
    const actions = actionsFor(section);
    const classes = CLASSES.filter((name) => actions.outbound[name] !== 'allow');
    this.#suppressions = section.suppressions;
    this.#options = { fingerprint, classes, actions };
    this.#inspector = new TurnInspector(this.#options);
  }

  /** `provider` and the model are the server and the tool of a suppression. */
  scan(body: Buffer, outline: RequestOutline, provider: string): ScannedRequest {
    const place = { server: provider, tool: outline.model, nowMs: Date.now() };
    const inspection = this.#inspectorFor(place).inspect({ body, outline });
    if (isFailure(inspection)) return this.#stopped(body, UNREADABLE, inspection.message);
    const { unscanned } = inspection;
    if (unscanned.length > 0 && this.#isUnseenRefused) {
      return this.#stopped(body, tagsOf(inspection, 'tag'), UNSEEN);
    }
    const isRedacted = inspection.findings.some(({ action }) => action === 'redact');
    const action = isRedacted && this.#isEnforced ? 'redact' : 'tag';
    const findings = tagsOf(inspection, action);
    if (findings.length === 0) return { body, content: undefined, refusal: undefined };
    const sent = action === 'redact' ? inspection.redacted() : body;
    return { body: sent, content: { action, findings }, refusal: undefined };
  }

  #inspectorFor(place: SuppressedPlace): TurnInspector {
    const here = this.#suppressions.filter(
      ({ server, tool, expires }) =>
        server === place.server && tool === place.tool && Date.parse(expires) > place.nowMs,
    );
    if (here.length === 0) return this.#inspector;
    const key = JSON.stringify(here);
    const known = this.#silenced.get(key);
    if (known !== undefined) return known;
    const silence = (verdict: ScanVerdict) => suppress(verdict, here, place).verdict;
    const made = new TurnInspector({ ...this.#options, silence });
    if (this.#silenced.size >= SILENCED_MAX) this.#silenced.clear();
    this.#silenced.set(key, made);
    return made;
  }

  #stopped(body: Buffer, findings: readonly string[], refusal: string): ScannedRequest {
    if (!this.#isEnforced)
      return { body, content: { action: 'tag', findings }, refusal: undefined };
    return { body, content: { action: 'block', findings }, refusal };
  }
}

/** `class:rule` of what was found, each once; behind one that was only told of stands `(tag)`. */
function tagsOf({ findings, unscanned }: Inspection, action: 'redact' | 'tag'): readonly string[] {
  const done = new Map<string, string>();
  for (const { class: name, rule, action: own } of findings) {
    const tag = `${name}:${rule}`;
    if (own === 'redact' || action === 'tag') done.set(tag, tag);
    else if (!done.has(tag)) done.set(tag, `${tag} (tag)`);
  }
  const gaps = unscanned.map((reason) => `unscanned:${reason}`);
  return [...done.values(), ...gaps].toSorted().slice(0, FINDINGS_MAX);
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
