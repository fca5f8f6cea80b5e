// Characters that a person doesn't see: tags, zero-width runs, turned-round text, terminal escapes.
import type { TextSurvey } from './survey.ts';
import type { Detection, DetectorHit } from './types.ts';

interface Unseen {
  readonly rule: string;
  readonly label: string;
  readonly pattern: RegExp;
  readonly score: (text: string, found: RegExpExecArray) => number;
}

const LETTER_BEFORE = /[A-Za-z0-9]$/;
const LETTER_AFTER = /^[A-Za-z0-9]/;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const FLAG = '\u{1f3f4}';
const FLAG_TAGS_MAX = 7;
/** What is drawn from so many pieces is an emoji or a script that needs them. */
const JOINED = /[\p{Extended_Pictographic}\p{M}\p{Emoji_Modifier}\ufe0f]$/u;

const around = (text: string, { index, 0: found }: RegExpExecArray) => ({
  before: text.slice(Math.max(0, index - 2), index),
  after: text.slice(index + found.length, index + found.length + 2),
});

const UNSEEN: readonly Unseen[] = [
  {
    rule: 'unicode-tags',
    label: 'holds text written in invisible tag characters',
    pattern: /(?:\udb40[\udc01-\udc7f])+/g,
    score: (text, found) => {
      const { before } = around(text, found);
      return before === FLAG && found[0].length <= 2 * FLAG_TAGS_MAX ? 0 : 3;
    },
  },
  {
    rule: 'variation-run',
    label: 'holds a run of invisible variation selectors',
    pattern: /(?:[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]){3,}/g,
    score: () => 3,
  },
  {
    rule: 'zero-width',
    label: 'holds characters without width',
    pattern: /(?:[\u200b-\u200d\u2060-\u2064\u115f\u1160\u180e\u3164\ufeff\uffa0]|\u034f)+/g,
    score: (text, found) => {
      const { before, after } = around(text, found);
      if (found[0].length >= 3) return 3;
      if (found.index === 0 && found[0] === '\ufeff') return 0;
      if (JOINED.test(before) || JOINED.test(after)) return 0;
      return LETTER_BEFORE.test(before) && LETTER_AFTER.test(after) ? 1 : 0;
    },
  },
  {
    rule: 'bidi-override',
    label: 'changes the order in which text is shown',
    pattern: /[\u202d\u202e]/g,
    score: () => 3,
  },
  {
    rule: 'bidi-override',
    label: 'changes the order in which text is shown',
    pattern: /[\u202a\u202b\u2066-\u2068]/g,
    score: (text, found) =>
      RIGHT_TO_LEFT.test(text.slice(Math.max(0, found.index - 200), found.index + 200)) ? 0 : 2,
  },
];

const TERMINAL: readonly Unseen[] = [
  {
    rule: 'terminal-escape',
    label: 'moves the cursor, hides text or commands the terminal',
    // Colors alone are what tools print.
    pattern:
      /(?:\x1b\[|\x9b)(?![\d;]{0,24}m)[\d;?]{0,24}[ -/]?[@-~]|\x1b[\]P^_X][^\x07\x1b]{0,256}|\x1b[c78=>MDEHN]|\x08{3,}/g,
    score: () => 2,
  },
  {
    rule: 'terminal-escape',
    label: 'hides text from the terminal',
    pattern: /(?:\x1b\[|\x9b)(?:[\d;]{0,16};)?0?8(?:;[\d;]{0,16})?m/g,
    score: (_text, found) => (/[34]8;[25]|[34]8m/.test(found[0]) ? 0 : 3),
  },
  {
    rule: 'terminal-escape',
    label: 'holds escapes for a terminal',
    pattern: /\x1b|\x9b/g,
    score: () => 0,
  },
];
/** Split words: so many of them are no accident of typesetting. */
const SPLITS_MIN = 3;
const LOOKS_MAX = 10_000;

export function detectHidden(detection: Detection, seen: TextSurvey): void {
  const { text } = detection.view;
  if (!seen.isAscii) for (const unseen of UNSEEN) look(detection, unseen);
  if (!seen.hasControls && !text.includes('\x9b')) return;
  for (const unseen of TERMINAL) look(detection, unseen);
}

function look({ view, found, meter, strictness }: Detection, unseen: Unseen): void {
  const { text } = view;
  const { rule, label, pattern } = unseen;
  const weak: DetectorHit[] = [];
  meter.steps += text.length;
  pattern.lastIndex = 0;
  for (let looks = 0, at = pattern.exec(text); at !== null && looks < LOOKS_MAX; looks++) {
    const base = unseen.score(text, at);
    const score = strictness === 'definition' ? definitionScore(rule, base) : base;
    const end = at.index + at[0].length;
    const hit = { class: 'hidden_text', rule, label, start: at.index, end, score } as const;
    if (score === 1 && rule === 'zero-width') weak.push(hit);
    else if (score > 0) found(hit);
    at = pattern.exec(text);
  }
  for (const hit of weak) found(weak.length >= SPLITS_MIN ? { ...hit, score: 2 } : hit);
}

/** No tool's description has a reason to hide or to color anything. */
function definitionScore(rule: string, score: number): number {
  if (rule === 'unicode-tags') return score;
  if (score === 0) return rule === 'terminal-escape' ? 2 : 0;
  return score + 1;
}

export const HIDDEN_RULES: readonly string[] = [
  ...new Set([...UNSEEN, ...TERMINAL].map(({ rule }) => rule)),
];
