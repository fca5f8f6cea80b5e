// How much of our own red-team corpora is found, and how often honest text is called bad.
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Case, Corpus } from '../../../../test/corpora/index.ts';
import {
  DEFINITIONS,
  ENCODED,
  EXFILTRATION,
  HIDDEN,
  PERSONAL,
  RESULTS,
  SECRETS,
} from '../../../../test/corpora/index.ts';
import type { FindingClass, ScanVerdict } from './index.ts';
import { scanJson, scanText, scanToolDefinition } from './index.ts';

interface Goal {
  readonly corpus: Corpus;
  /** What counts as found, and what must not be found in any benign case. */
  readonly classes: readonly FindingClass[];
  readonly recallMin: number;
  readonly falseMax: number;
  /** The benign cases of the others too: honest text is honest everywhere. */
  readonly against: readonly Corpus[];
}

const ALL = [SECRETS, PERSONAL, DEFINITIONS, RESULTS, HIDDEN, ENCODED, EXFILTRATION];
const SPOKEN = ['injection', 'hidden_text'] as const;
const GOALS: readonly Goal[] = [
  { corpus: SECRETS, classes: ['secret'], recallMin: 0.98, falseMax: 0.01, against: ALL },
  {
    corpus: PERSONAL,
    classes: ['personal'],
    recallMin: 0.95,
    falseMax: 0.02,
    against: [PERSONAL, SECRETS],
  },
  { corpus: DEFINITIONS, classes: SPOKEN, recallMin: 0.9, falseMax: 0.02, against: ALL },
  { corpus: RESULTS, classes: SPOKEN, recallMin: 0.9, falseMax: 0.02, against: ALL },
  { corpus: HIDDEN, classes: SPOKEN, recallMin: 0.9, falseMax: 0.02, against: ALL },
  { corpus: ENCODED, classes: SPOKEN, recallMin: 0.9, falseMax: 0.02, against: ALL },
  {
    corpus: EXFILTRATION,
    classes: ['secret', 'personal'],
    recallMin: 0.9,
    falseMax: 0.02,
    against: [EXFILTRATION],
  },
];

const fingerprint = (text: string) =>
  createHmac('sha256', 'test').update(text).digest('hex').slice(0, 16);

function scan({ as, value }: Case): ScanVerdict {
  if (as === 'definition') return scanToolDefinition(value, { fingerprint });
  return as === 'text'
    ? scanText(String(value), { fingerprint })
    : scanJson(value, { fingerprint });
}

/** A hint is told and never acted upon: it counts on neither side. */
function isFound(one: Case, classes: readonly FindingClass[]): boolean {
  return scan(one).findings.some(
    (finding) => finding.confidence !== 'hint' && classes.includes(finding.class),
  );
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

describe('the red-team corpora', () => {
  const rows: string[] = [];

  it.each(GOALS.map((goal) => [goal.corpus.name, goal] as const))(
    'meet their goals: %s',
    (name, goal) => {
      const { corpus, classes, recallMin, falseMax, against } = goal;
      const missed = corpus.attacks.filter((one) => !isFound(one, classes));
      const honest = against.flatMap(({ benign }) => benign);
      const wrong = honest.filter((one) => isFound(one, classes));
      const found = corpus.attacks.length - missed.length;
      rows.push(
        `${name.padEnd(14)} found ${percent(found, corpus.attacks.length).padStart(7)} of ${corpus.attacks.length}, false ${percent(wrong.length, honest.length).padStart(6)} of ${honest.length}`,
      );
      const report = { missed: missed.map(({ id }) => id), wrong: wrong.map(({ id }) => id) };
      expect(found / corpus.attacks.length, JSON.stringify(report)).toBeGreaterThanOrEqual(
        recallMin,
      );
      expect(wrong.length / honest.length, JSON.stringify(report)).toBeLessThanOrEqual(falseMax);
      if (process.env['CORPORA_REPORT'] !== undefined) rows.push(JSON.stringify(report));
    },
  );

  it('are broad: as many honest cases as attacks, and at least 150 attacks', () => {
    const attacks = ALL.flatMap((corpus) => corpus.attacks);
    const benign = ALL.flatMap((corpus) => corpus.benign);
    expect(attacks.length).toBeGreaterThanOrEqual(150);
    expect(benign.length).toBeGreaterThanOrEqual(attacks.length);
    const ids = [...attacks, ...benign].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    process.stdout.write(
      `${rows.join('\n')}\n${attacks.length} attacks, ${benign.length} honest cases\n`,
    );
  });
});
