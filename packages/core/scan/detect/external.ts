// Content from outside is marked as such before a model sees it. The marks are ours: nothing inside
// can close them, forge them or speak in the control tokens of a chat.
import { isObject } from '@subluminal/contracts';
import { fold } from './folded-text.ts';

export interface ExternalSource {
  /** For example `mcp:gmail`, `email` or `web`. */
  readonly source: string;
  readonly tool?: string;
  readonly sender?: string;
}

export interface ExternalOptions extends ExternalSource {
  /** No more units of content than this; the rest is cut, and a mark in the text says so. */
  readonly unitsMax?: number;
}

export interface TaggedResult {
  readonly result: unknown;
  /** Units that were cut. */
  readonly cutUnits: number;
}

const UNITS_MAX = 200_000;
const ATTRIBUTE_MAX = 128;
/** What a reader takes for the beginning of a mark: brackets of every kind, also as HTML writes them. */
const OPENING =
  '(?:[\\[\\u2045\\u2772\\u27e6\\u298b\\u298d\\u298f\\u3010\\u3014\\u3016\\u3018\\u301a]|&(?:#0{0,8}91|#x0{0,8}5b|lsqb|lbrack);?)';
/** No letters, so that `[end] external content` is none. */
const GAP = '[^\\p{L}\\p{N}\\[\\]()<>]{0,8}';
const OWN_MARK = new RegExp(
  `${OPENING}(?=${GAP}(?:(?:end|close|begin|start|stop|fin)(?:\\s*of)?${GAP})?external[^\\p{L}\\p{N}]{0,4}content)`,
  'giu',
);
/** A part of every mark, which is looked for in less time. */
const OWN_WORD = /external/i;
/** All signs outside of ASCII among them: folding may make one of the others of them. */
const MAY_OPEN = /[[<&\u0080-\uffff]/;
const CONTROL_TOKEN =
  /<(?=\| ?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_text|begin_of_text|start_header_id|end_header_id|eot_id|eom_id|endofprompt|channel|message|return|tool_call|end) ?\|?>)|\[(?=\/?inst\])|<(?=<\/?sys>>)|<(?=(?:start|end)_of_turn>)/gi;

/** A name as an attribute: what could end it or begin another is gone. */
function attribute(name: string, value: string | undefined): string {
  if (value === undefined) return '';
  const shown = value.slice(0, ATTRIBUTE_MAX).replace(/[^\w.:@/+ -]/g, '_');
  return ` ${name}="${shown}"`;
}

/** Signs that would begin a mark of ours or a token of a chat become round ones. */
export function neutral(text: string): string {
  if (!MAY_OPEN.test(text)) return text;
  const folded = fold(text);
  const seen = folded?.text ?? text;
  const marks = OWN_WORD.test(seen) ? [...seen.matchAll(OWN_MARK)] : [];
  const signs = [...marks, ...seen.matchAll(CONTROL_TOKEN)];
  if (signs.length === 0) return text;
  const places = signs
    .map(({ 0: sign, index }) => ({ start: index, end: index + sign.length }))
    .map((range) => folded?.toSource(range) ?? range)
    .toSorted((left, right) => left.start - right.start);
  let out = '';
  let done = 0;
  for (const { start, end } of places) {
    if (start < done) continue;
    out += `${text.slice(done, start)}(`;
    done = end;
  }
  return out + text.slice(done);
}

/** Cuts a text where no character is taken apart; `mark` says so. */
function cut(text: string, unitsMax: number): { readonly kept: string; readonly mark: string } {
  if (text.length <= unitsMax) return { kept: text, mark: '' };
  const last = text.charCodeAt(unitsMax - 1);
  const end = Math.max(0, last >= 0xd800 && last <= 0xdbff ? unitsMax - 1 : unitsMax);
  const count = `${text.length - end} of ${text.length} characters`;
  return {
    kept: text.slice(0, end),
    mark: `\n[TRUNCATED ${count} left out to protect the context]`,
  };
}

/** The text in at most so many units, and a mark where it is cut. */
export function cutContent(text: string, unitsMax: number): string {
  const { kept, mark } = cut(text, unitsMax);
  return kept + mark;
}

/** The text between the marks of outside content. */
export function externalContent(text: string, options: ExternalOptions): string {
  const { kept, mark } = cut(text, options.unitsMax ?? UNITS_MAX);
  return betweenMarks(neutral(kept) + mark, options);
}

/** The same for a text that is neutral: so is each beginning of it. */
export function markedContent(text: string, options: ExternalOptions): string {
  return betweenMarks(cutContent(text, options.unitsMax ?? UNITS_MAX), options);
}

function betweenMarks(content: string, { source, tool, sender }: ExternalSource): string {
  const head = attribute('source', source) + attribute('tool', tool) + attribute('sender', sender);
  return `[EXTERNAL_CONTENT${head}]\n${content}\n[/EXTERNAL_CONTENT]`;
}

/** The result of an MCP tool with its text blocks marked; all else is the very same. */
export function tagResult(result: unknown, options: ExternalOptions): TaggedResult {
  if (!isObject(result) || !Array.isArray(result['content'])) return { result, cutUnits: 0 };
  let room = options.unitsMax ?? UNITS_MAX;
  let cutUnits = 0;
  const content = result['content'].map((block: unknown) => {
    if (!isObject(block) || block['type'] !== 'text' || typeof block['text'] !== 'string')
      return block;
    const { text } = block;
    const own = externalContent(text, { ...options, unitsMax: room });
    cutUnits += Math.max(0, text.length - room);
    room = Math.max(0, room - text.length);
    return { ...block, text: own };
  });
  return { result: { ...result, content }, cutUnits };
}
