import { readFileSync } from 'node:fs';
import { parseEventLine } from '@subluminal/contracts';
import { compileBundle, loadPatternChecks, parseBundle, replay } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import { expect, test } from 'vitest';
import { exampleEvents } from './example-events.ts';

const read = (path: string) => readFileSync(new URL(`../examples/${path}`, import.meta.url));
const text = read('events/session.jsonl').toString();

function events() {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const parsed = parseEventLine(line);
      if (!parsed.ok) throw new Error(`no event: ${line}`);
      return parsed.event;
    });
}

async function replayed(file: string) {
  const checks = await loadPatternChecks();
  const parsed = parseBundle({ file, bytes: read(`policies/${file}`) }, { checks });
  if (!parsed.ok) throw new Error(`${file} does not parse`);
  return replay(await compileBundle(parsed.bundle, { sha256 }), events(), { sha256 });
}

test('the example is what the writer writes today', async () => {
  expect(text, 'run `node tools/run.mjs tools/example-events.ts`').toBe(await exampleEvents());
});

test('the policy that decided it decides it the same again', async () => {
  const { summary, notes } = await replayed('guardrails.json');
  expect(summary.verdicts).toMatchObject({ same: 16, stricter: 0, looser: 0, unrecorded: 1 });
  expect(Object.values(notes).every((count) => count === 0)).toBe(true);
});

test('another policy shows every verdict that a replay has', async () => {
  const { summary } = await replayed('starter.yaml');
  expect(summary.verdicts).toEqual({
    same: 10,
    stricter: 3,
    looser: 1,
    different_rule: 1,
    undetermined: 1,
    unrecorded: 1,
  });
});
